"""Events in which a process of Oracle's has nothing to do, of every release from 9.2 to 23.

A release lists only the events it knew: `lreg timer` came with 12.1, and Statspack's list of 12.1 lacks it.

Source: V$EVENT_NAME, class Idle; STATS$IDLE_EVENT with its upgrades. Waits for a client's network that old
Statspack calls idle (`SQL*Net message to client`, `SQL*Net more data from client`) are left out: their class
is Network.
"""

from __future__ import annotations

_GENERAL = """
    cached session; class slave wait; client message; i/o slave wait; master wait; slave wait
    KSV master wait; null event; PING; pipe get; PL/SQL lock timer; process in prespawned state
    rdbms ipc message; single-task message; spawn request deferred; wait for activate message
    wait for unread message on broadcast channel; wait for unread message on multiple broadcast channels
    wakeup time manager; watchdog main loop; Shutdown completion due to error; RMA: IPC0 completion sync
    idle class spare wait event 1; idle class spare wait event 2; idle class spare wait event 3
    idle class spare wait event 4; idle class spare wait event 5; idle class spare wait event 6
    idle class spare wait event 7; idle class spare wait event 8; idle class spare wait event 9
    idle class spare wait event 10
"""
_TIMERS = """
    ASM background timer; cmon timer; DBWR timer; dispatcher timer; fbar timer; imco timer; lreg timer
    pman timer; pmon timer; pool server timer; smon timer; LMS CR slave timer; heartbeat monitor sleep
    GCR sleep; MLE sleep; DBRM Logical Idle Wait; VKTM Init Wait for GSGA; VKTM Logical Idle Wait
    VKRM Idle; DIAG idle wait; IORM Scheduler Slave Idle Wait; Generic Process Pool Dispatcher: idle
    Generic Process Pool Worker: sleep; SCM slave idle; DNFS disp IO slave idle; NVM disp IO slave idle
    BRDG: bridge controller idle; Distributed Trace: Archival Worker Idle
    Space Manager: slave idle wait; IMFS defer writes scheduler; memoptimize write drain idle
    SGA: MMAN sleep for component shrink; cell worker idle; OFS idle; OFS Receive Queue
    JOX Jit Process Sleep; JS external job; jobq slave wait; auto-sqltune: wait graph update
    block compare coord process idle; nologging fetch slave idle; True Cache: background process idle
    Data Guard PDB query SCN service idle; Consensus service idle; Sharding replication
    Multi-Tenant Redo File Server - Flush Header Interval; ASM cluster membership changes
    AUTO access ASM_CLIENT registration; gopp msg; gopp msggopp msg; iowp file id; iowp msg
    netp network; Blockchain apply clean; blockchain apply short; blockchain apply long
    Blockchain reader process idle; WCR: replay client notify; WCR: replay clock; WCR: replay paused
"""
_CLIENTS = """
    SQL*Net message from client; SQL*Net vector message from client; SQL*Net vector message from dblink
    HS message to agent; shared server idle wait; virtual circuit next request; virtual circuit status
    Network Retrans by Client; Network Retrans by Server
"""
_CLUSTER = """
    gcs for action; gcs remote message; gcs yield cpu; ges remote message
    lock manager wait for remote message
"""
_PARALLEL = """
    parallel query dequeue; parallel query idle wait - Slaves; PX Deque wait; PX Idle Wait
    PX Deq Credit: need buffer; PX Deq Credit: send blkd; PX Deq: Execute Reply; PX Deq: Execution Msg
    PX Deq: Index Merge Close; PX Deq: Index Merge Execute; PX Deq: Index Merge Reply; PX Deq: Join ACK
    PX Deq: kdcph_mai; PX Deq: kdcphc_ack; PX Deq: Metadata Update; PX Deq: Msg Fragment
    PX Deq: Par Recov Execute; PX Deq: Parse Reply; PX Deq: Signal ACK; PX Deq: Table Q Normal
    PX Deq: Table Q Sample; PX Deq: Txn Recovery Reply; PX Deq: Txn Recovery Start
"""
_REDO = """
    LGWR real time apply sync; LGWR worker group idle; simulated log write delay
    heartbeat redo informer; Archiver: redo logs; LNS ASYNC archive log; LNS ASYNC dest activation
    LNS ASYNC end of log; MRP redo arrival; Data Guard: controlfile update; Data Guard: Gap Manager
    Data Guard: Timer; Logical Standby Apply Delay; recovery coordinator idle; recovery logmerger idle
    recovery logmerger idle wait; recovery merger idle wait; recovery receiver idle
    recovery receiver idle wait; recovery sender idle; recovery sender idle wait
    parallel recovery control message reply; parallel recovery coordinator idle wait
    parallel recovery coordinator waits for slave cleanup; parallel recovery slave idle wait
    parallel recovery slave next change; parallel recovery slave wait for change
    Backup Appliance Comm SGA setup wait; Backup Appliance Servlet wait; Backup Appliance Surrogate wait
    Backup Appliance waiting for work; Backup Appliance waiting restore start
    Recovery Server Comm SGA setup wait; Recovery Server Servlet wait; Recovery Server Surrogate wait
    Recovery Server waiting for work; Recovery Server waiting restore start
"""
_MINER = """
    LogMiner builder: branch; LogMiner builder: idle; LogMiner client: transaction
    LogMiner merger: idle; LogMiner preparer: idle; LogMiner reader: log (idle)
    LogMiner reader: redo (idle); LogMiner: activate; LogMiner: client waiting for transaction
    LogMiner: find session; LogMiner: generate; LogMiner: generic process sleep; LogMiner: internal
    LogMiner: other; LogMiner: reader waiting for more redo; LogMiner: reset
    LogMiner: slave waiting for activate message; LogMiner: waiting for processes to soft detach
    LogMiner: wakeup event for builder; LogMiner: wakeup event for preparer
    LogMiner: wakeup event for reader; wakeup event for builder; wakeup event for preparer
    wakeup event for reader
"""
_QUEUES = """
    AQ Cross Master idle; AQ Proxy Cleanup Wait; AQ: 12c message cache init wait; AQPC idle
    EMON idle wait; EMON slave idle wait; Emon coordinator main loop; Emon slave main loop; knlqdeq
    queue messages; Queue Monitor Shutdown Wait; Queue Monitor Slave Wait; Queue Monitor Wait
    REPL Apply: txns; REPL Capture/Apply: messages; REPL Capture/Apply: RAC AQ qmn coordinator
    REPL Capture: archive log; Sharded Queues : Part Maintenance idle
    Sharded Queues : Part Truncate idle; STREAMS apply coord waiting for slave message
    STREAMS apply slave idle wait; STREAMS apply slave waiting for coord message
    STREAMS capture process filter callback wait for ruleset; STREAMS fetch slave waiting for txns
    STREAMS waiting for subscribers to catch up; Streams AQ: deallocate messages from Streams Pool
    Streams AQ: delete acknowledged messages; Streams AQ: emn coordinator idle wait
    Streams AQ: load balancer idle; Streams AQ: opt idle; Streams AQ: qmn coordinator idle wait
    Streams AQ: qmn slave idle wait; Streams AQ: RAC qmn coordinator idle wait
    Streams AQ: waiting for messages in the queue
    Streams AQ: waiting for time management or cleanup tasks; Streams capture: waiting for archive log
    Streams fetch slave: waiting for txns; Streams: waiting for messages
"""
IDLE_EVENTS = frozenset(
    " ".join(name.lower().split())
    for text in (_GENERAL, _TIMERS, _CLIENTS, _CLUSTER, _PARALLEL, _REDO, _MINER, _QUEUES)
    for line in text.splitlines()
    for name in line.split(";")
    if name.strip()
)
"""Names of idle events in lower case, with single blanks."""
_SAYS_SO = (" idle", " idle wait", "(idle)")
"""Ends of names that show idling, for events of later releases."""
_CUT = 21
"""Characters of an event's name in the narrowest layouts; `SQL*Net message from` is not enough."""


def is_idle(event: str) -> bool:
    """Whether a process in this event has nothing to do; names may be cut off, as text reports do."""
    name = " ".join(event.lower().split())
    return (
        name in IDLE_EVENTS
        or name.endswith(_SAYS_SO)
        or (len(name) >= _CUT and any(idle.startswith(name) for idle in IDLE_EVENTS))
    )
