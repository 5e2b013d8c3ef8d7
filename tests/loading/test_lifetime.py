"""The end of a process, and forks: the status is right, the plugin is ended once, nothing hangs."""

from __future__ import annotations

import pytest

START = """
import atexit, os, signal, sys, threading, time
from device_api.loading import HostServices, open_library
plugin = open_library(sys.argv[1])
host = HostServices()
plugin.initialize(host.address)
device = plugin.open_device(0)
"""

ENDS = {
    "return": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "exception": ("raise ValueError('boom')", 1),
    # A process started in the background of a script inherits SIGINT as ignored.
    "interrupt": (
        "signal.signal(signal.SIGINT, signal.default_int_handler); signal.raise_signal(signal.SIGINT)",
        -2,
    ),
    "from a thread": ("threading.Thread(target=lambda: time.sleep(0.05)).start()", 0),
    "from atexit": ("atexit.register(lambda: plugin.shutdown())", 0),
    "after an explicit shutdown": ("plugin.shutdown()", 0),
    "with a reference cycle": ("cycle = [plugin]; cycle.append(cycle)", 0),
}


@pytest.fixture
def run(stub, python, tmp_path):
    """Runs a program with a started plugin; gives the result and the calls that the plugin received."""
    library, trace = stub(), tmp_path / "trace.txt"

    def go(program: str, **variables: str):
        ran = python(START + program, library, STUB_TRACE=str(trace), **variables)
        return ran, trace.read_text().split()

    return go


@pytest.mark.parametrize("end", ENDS)
def test_the_plugin_is_ended_once_whichever_way_the_process_ends(run, end):
    program, status = ENDS[end]
    ran, calls = run(program)
    assert ran.status == status, ran.err
    assert calls == ["query", "initialize", "open", "close", "shutdown"]


@pytest.mark.parametrize(("name", "status"), [("SIGTERM", -15), ("SIGKILL", -9)])
def test_a_signal_ends_the_process_with_its_own_status(run, name, status):
    ran, _ = run(f"os.kill(os.getpid(), signal.{name}); time.sleep(60)")
    assert ran.status == status


def test_os_exit_skips_everything_and_does_not_crash(run):
    ran, calls = run("os._exit(5)")
    assert ran.status == 5
    assert calls == ["query", "initialize", "open"]


def test_a_plugin_that_hangs_at_the_end_is_left_behind(run):
    program = "from device_api.loading import instances; instances.shutdown_all.__defaults__ = (0.2,)"
    ran, calls = run(program, STUB="shutdown=hang")
    assert ran.status == 0, ran.err
    assert calls[-1] == "shutdown"
    assert "left behind" in ran.err


def test_a_plugin_that_fails_at_the_end_is_reported_and_does_not_change_the_status(run):
    ran, _ = run("", STUB="shutdown=fail")
    assert ran.status == 0
    assert "the stub was told to fail" in ran.err


def test_plugins_end_in_the_reverse_order_of_their_start(stub, python, tmp_path):
    trace = tmp_path / "trace.txt"
    paths = [stub(f"lib{name}.so", f'-DSTUB_TYPE="{name}"') for name in ("first", "second")]
    program = """
import sys
from device_api.loading import HostServices, open_library
host = HostServices()
def note(plugin):
    end = plugin.shutdown
    plugin.shutdown = lambda: (print(plugin.device_type), end())
for path in sys.argv[1:]:
    plugin = open_library(path)
    plugin.initialize(host.address)
    note(plugin)
"""
    ran = python(program, *paths, STUB_TRACE=str(trace))
    assert ran.out.split() == ["second", "first"], ran.err
    assert trace.read_text().split().count("shutdown") == 2


def test_a_forked_child_gets_a_clear_error_and_leaves_the_plugin_alone(run):
    ran, calls = run("""
from device_api.errors import ForkedProcess
pid = os.fork()
if pid == 0:
    for use in (plugin.device_count, lambda: plugin.open_device(0), lambda: plugin.initialize(host.address)):
        try:
            use()
        except ForkedProcess as error:
            assert error.owner_pid == os.getppid()
            assert "spawn" in str(error)
        else:
            os._exit(1)
    plugin.shutdown()
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""")
    assert ran.out.split() == ["0"], ran.err
    assert calls.count("shutdown") == 1


def test_a_fork_while_a_thread_holds_the_locks_does_not_block_the_child(run):
    ran, _ = run("""
held = threading.Event()
def hold():
    with plugin._lock:
        held.set()
        time.sleep(60)
threading.Thread(target=hold, daemon=True).start()
held.wait()
pid = os.fork()
if pid == 0:
    from device_api.errors import ForkedProcess
    try:
        plugin.open_device(0)
    except ForkedProcess:
        os._exit(0)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
os._exit(0)
""")
    assert ran.out.split() == ["0"], ran.err


def test_a_plugin_that_was_only_opened_may_be_started_in_a_child(stub, python):
    program = """
import os, sys
from device_api.loading import HostServices, open_library
plugin = open_library(sys.argv[1])
pid = os.fork()
if pid == 0:
    host = HostServices()
    plugin.initialize(host.address)
    os._exit(plugin.device_count())
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert python(program, stub()).out.split() == ["2"]


def test_a_fork_without_any_use_is_silent(python):
    program = """
import os
import device_api.loading
device_api.loading.plugin_records()
pid = os.fork()
if pid == 0:
    device_api.loading.plugin_records()
    raise SystemExit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    ran = python(program)
    assert (ran.out.split(), ran.err) == (["0"], "")
