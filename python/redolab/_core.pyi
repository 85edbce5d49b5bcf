from typing import Final, final

__all__ = [
    "LOG_DEVICE_LIBRARY",
    "MachineTimes",
    "ServerTasks",
    "Task",
    "machine_times",
    "server_tasks",
    "task_states",
]

LOG_DEVICE_LIBRARY: Final[bytes]

@final
class Task:
    @property
    def pid(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def start_ticks(self) -> int: ...
    @property
    def cpu_ns(self) -> int: ...
    @property
    def run_queue_ns(self) -> int: ...
    @property
    def state(self) -> str: ...

@final
class ServerTasks:
    @property
    def tasks(self) -> tuple[Task, ...]: ...
    @property
    def reaped_cpu_ns(self) -> int: ...

@final
class MachineTimes:
    @property
    def busy_ns(self) -> int: ...
    @property
    def steal_ns(self) -> int: ...
    @property
    def idle_ns(self) -> int: ...
    @property
    def cpus(self) -> int: ...

def server_tasks(postmaster: int) -> ServerTasks: ...
def task_states(pids: list[int]) -> list[str | None]: ...
def machine_times() -> MachineTimes: ...
