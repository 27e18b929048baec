"""What tests of every app share."""

pytest_plugins = ["demo.fixtures"]
