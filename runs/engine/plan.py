"""What a run is going to do: pure data, made before anything is sent."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from runs.engine.guards import Limits as GuardLimits


@dataclass(frozen=True, slots=True)
class Target:
    """Where to send, and what should be there.

    `base_url` ends with the API prefix (`http://127.0.0.1:8080/v1`). The key itself is never
    stored: `api_key_env` names an environment variable of the measuring process.
    """

    base_url: str
    model: str
    runtime: str = "openai"  # adapter key
    layer: str = "direct"
    api_key_env: str = ""
    expected_file: str = ""
    expected_digest: str = ""
    expected_names: tuple[str, ...] = ()  # canonical route and accepted aliases
    context_per_slot: int | None = None  # tokens, as configured
    server_url: str = ""  # of the server itself, where requests go through a gateway or proxy
    server_model: str = ""
    server_key_env: str = ""

    @property
    def is_behind(self) -> bool:
        """Whether something stands before the server, and where the server is, is known."""
        return bool(self.server_url)

    def itself(self) -> Target:
        """Where the server tells of itself: identity, load and memory are read there."""
        if not self.server_url:
            return self
        return replace(
            self,
            base_url=self.server_url,
            model=self.server_model or self.model,
            api_key_env=self.server_key_env,
            expected_names=(*self.expected_names, self.model),
            server_url="",
        )


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Four clocks, in seconds. Only tokens reset `idle_s`; comments and blanks never do."""

    connect_s: float = 5.0
    prefill_s: float = 300.0  # until the first token
    idle_s: float = 60.0  # between tokens
    total_s: float = 900.0
    load_s: float = 120.0  # how long a loading server is waited for


@dataclass(frozen=True, slots=True)
class Limits:
    """Our own safety stops. Reaching one is `probe_limit`, inconclusive, and recorded as ours."""

    body_bytes: int = 64 * 1024 * 1024
    line_bytes: int = 4 * 1024 * 1024
    header_bytes: int = 256 * 1024


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One check of a suite with its parameters (see `runs.engine.checks`)."""

    key: str
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """A suite bound to a target: everything that decides what is sent.

    `sampling` empty means greedy (temperature 0), so that the same question gets the same
    answer. `max_tokens` is never sent.
    """

    suite: str
    suite_version: int
    checks: tuple[CheckSpec, ...]
    target: Target
    deadlines: Deadlines = field(default_factory=Deadlines)
    limits: Limits = field(default_factory=Limits)
    sampling: dict[str, float] = field(default_factory=dict)
    seed: int = 0
    guards: GuardLimits = field(default_factory=GuardLimits)

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready; `from_dict` gives the plan back."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Plan:
        """The plan that `as_dict` described. Unknown keys raise TypeError."""
        fields = dict(data)
        target = dict(fields["target"])
        target["expected_names"] = tuple(target.get("expected_names", ()))
        return cls(
            suite=fields["suite"],
            suite_version=fields["suite_version"],
            checks=tuple(CheckSpec(c["key"], dict(c.get("params", {}))) for c in fields["checks"]),
            target=Target(**target),
            deadlines=Deadlines(**fields.get("deadlines", {})),
            limits=Limits(**fields.get("limits", {})),
            sampling=dict(fields.get("sampling", {})),
            seed=fields.get("seed", 0),
            guards=GuardLimits(**fields.get("guards", {})),
        )
