import threading

from threadpoolctl import threadpool_info

from mage._core.threads import one_blas_thread


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_the_last_thread_to_leave_ends_the_limit():
    before = blas_threads()
    inside, leave = threading.Event(), threading.Event()

    def first():
        with one_blas_thread():
            inside.set()
            leave.wait()

    thread = threading.Thread(target=first)
    thread.start()
    inside.wait()
    with one_blas_thread():
        leave.set()
        thread.join()
        assert set(blas_threads()) <= {1}
    assert blas_threads() == before
