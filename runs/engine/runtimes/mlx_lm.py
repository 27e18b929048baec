"""MLX-LM's `mlx_lm.server`: HTTP/1.0, no metrics, no tokenizer, echoes the model name."""

from __future__ import annotations

from runs.engine.judge import Contract
from runs.engine.runtimes.base import DOWN, READY, Adapter, Health, down
from runs.engine.runtimes.peek import PeekError


class MlxLm(Adapter):
    key = "mlx-lm"
    title = "MLX-LM server"
    proven_against = "a real server (mlx_lm.server 0.32 on a CPU), and its recorded answers"
    traps = (
        "Answers end at 512 tokens unless the server was started with another --max-tokens.",
        "An unknown model name is loaded or downloaded, and takes the place of the loaded one.",
        "The end of a stream is the end of the connection: only [DONE] tells a cut from an end.",
        "response_format is ignored without a word.",
        "No context limit is enforced: a prompt too long ends in a crash for lack of memory.",
    )
    contract = Contract(cached_tokens=True)

    async def health(self) -> Health:
        """200 means that the generation thread lives; the model may still be loading."""
        try:
            answer = await self.peek.get("/health")
        except PeekError as error:
            return down(error)
        if answer.status == 503:
            return Health(DOWN, "The generation thread has died (503). Restart the server.")
        return Health(READY, "The server answers; whether the model is loaded it does not say.")
