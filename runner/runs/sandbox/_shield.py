"""Work that has to be finished: all of it at once, and whoever presses Ctrl-C meanwhile."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor


def each(names: Sequence[str], remove: Callable[[str], None]) -> None:
    """Do it for all at once; the first error once all have been tried."""
    with ThreadPoolExecutor(max_workers=len(names), thread_name_prefix="close") as pool:
        futures = [pool.submit(remove, name) for name in names]
    for future in futures:
        future.result()


def uninterrupted(work: Callable[[], None]) -> None:
    """Finish the work however often Ctrl-C is pressed; the interrupt comes after."""
    done: Future[None] = Future()

    def run() -> None:
        try:
            work()
        except BaseException as error:
            done.set_exception(error)
        else:
            done.set_result(None)

    threading.Thread(target=run, name="remove", daemon=False).start()
    interrupted: BaseException | None = None
    while True:
        try:
            done.result()
            break
        except (KeyboardInterrupt, SystemExit) as error:
            if done.done():
                raise
            interrupted = error
    if interrupted is not None:
        raise interrupted
