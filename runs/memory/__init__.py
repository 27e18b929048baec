"""Memory and server telemetry of runs: stored compactly, read thinned, fitted and planned with."""
