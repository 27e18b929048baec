"""What every operation of the OpenAPI description has in common."""

from __future__ import annotations

from typing import Any

PROBLEM = {
    "type": "object",
    "description": "A problem detail (RFC 9457). `errors` tells by field what is wrong.",
    "required": ["type", "title", "status", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "detail": {"type": "string"},
        "errors": {
            "type": "object",
            "additionalProperties": {"type": "array", "items": {"type": "string"}},
        },
    },
}
METHODS = ("get", "post", "put", "patch", "delete")


def add_problems(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """Every operation may answer a problem."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = PROBLEM
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    answer = {"description": "What went wrong, in words", "content": content}
    for operations in result["paths"].values():
        for method in METHODS:
            if method in operations:
                operations[method]["responses"]["default"] = answer
    return result
