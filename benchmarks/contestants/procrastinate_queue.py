"""procrastinate on PostgreSQL: jobs deferred, and jobs fetched and finished, per second."""

import argparse
import asyncio
import json
import time

import procrastinate

BATCH, AT_ONCE = 500, 32


async def defer_single(task: procrastinate.tasks.Task, number: int) -> float:
    gate = asyncio.Semaphore(AT_ONCE)

    async def one(n: int) -> None:
        async with gate:
            await task.defer_async(url=f"https://shop.example/{n}")

    began = time.perf_counter()
    await asyncio.gather(*(one(n) for n in range(number)))
    return number / (time.perf_counter() - began)


async def defer_batched(task: procrastinate.tasks.Task, number: int) -> float:
    began = time.perf_counter()
    for start in range(0, number, BATCH):
        jobs = ({"url": f"https://shop.example/{n}"} for n in range(start, start + BATCH))
        await task.batch_defer_async(*jobs)
    return number / (time.perf_counter() - began)


async def measure(url: str, number: int) -> dict[str, float]:
    app = procrastinate.App(
        connector=procrastinate.PsycopgConnector(conninfo=url, min_size=8, max_size=8)
    )

    async def do_nothing(url: str) -> None:
        del url

    nothing = app.task(name="nothing")(do_nothing)
    async with app.open_async():
        await app.schema_manager.apply_schema_async()
        single = await defer_single(nothing, number // 4)
        batched = await defer_batched(nothing, number)
        began = time.perf_counter()
        await app.run_worker_async(wait=False, concurrency=AT_ONCE, install_signal_handlers=False)
        finished = (number + number // 4) / (time.perf_counter() - began)
    return {"single": single, "batched": batched, "finished": finished}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--url", required=True)
    parser.add_argument("--number", type=int, required=True)
    options = parser.parse_args()
    print(json.dumps(asyncio.run(measure(options.url, options.number))))


if __name__ == "__main__":
    main()
