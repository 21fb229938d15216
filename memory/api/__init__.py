"""The one port to the memory: frozen requests in, frozen results out.

Everybody uses it: MCP tools, console, CLI and tests; the same requests go over the socket to the memory's
process (`memory.process`) or straight into the service (`memory.service`). A request that fails raises
`MemoryFault` and has changed nothing. Limits of pages: 1 to 500 items.

Only `msgspec`-friendly types appear here (dataclasses, enums, tuples, numbers, strings), so that the wire
needs no code of its own.
"""

from __future__ import annotations

from memory.api.base import (
    MemoryPort,
    Request,
)
from memory.api.decisions import (
    Decide,
    Decision,
    ListProposals,
    ProposalPage,
    ProposalView,
    Resolve,
    ResolveResult,
)
from memory.api.forgetting import (
    DecisionView,
    GetPlan,
    ListRuns,
    PlanView,
    PreviewForgetting,
    RunForgetting,
    RunPage,
    RunResult,
    UndoResult,
    UndoRun,
)
from memory.api.reading import (
    BestProcedures,
    GetOverview,
    GetPosition,
    GetRecord,
    IndexStatus,
    KindCount,
    ListRecords,
    Neighbour,
    Order,
    Outcome,
    OverviewResult,
    PositionResult,
    ProcedureHit,
    RankedProcedures,
    RecordDetail,
    RecordPage,
    Search,
    SearchResult,
    SessionSummary,
)
from memory.api.tools import (
    CallTool,
    ToolAnswer,
)
from memory.api.upkeep import (
    Export,
    ExportPage,
    GetIndexStatus,
    Import,
    ImportResult,
    Reindex,
    Verify,
    VerifyResult,
)
from memory.api.writing import (
    AddRecord,
    ArchiveRecord,
    Candidate,
    EditRecord,
    ExpungeRecord,
    Receipt,
    RecordOutcome,
    RestoreRecord,
    Stored,
)

__all__ = [
    "AddRecord",
    "ArchiveRecord",
    "BestProcedures",
    "CallTool",
    "Candidate",
    "Decide",
    "Decision",
    "DecisionView",
    "EditRecord",
    "Export",
    "ExportPage",
    "ExpungeRecord",
    "GetIndexStatus",
    "GetOverview",
    "GetPlan",
    "GetPosition",
    "GetRecord",
    "Import",
    "ImportResult",
    "IndexStatus",
    "KindCount",
    "ListProposals",
    "ListRecords",
    "ListRuns",
    "MemoryPort",
    "Neighbour",
    "Order",
    "Outcome",
    "OverviewResult",
    "PlanView",
    "PositionResult",
    "PreviewForgetting",
    "ProcedureHit",
    "ProposalPage",
    "ProposalView",
    "RankedProcedures",
    "Receipt",
    "RecordDetail",
    "RecordOutcome",
    "RecordPage",
    "Reindex",
    "Request",
    "Resolve",
    "ResolveResult",
    "RestoreRecord",
    "RunForgetting",
    "RunPage",
    "RunResult",
    "Search",
    "SearchResult",
    "SessionSummary",
    "Stored",
    "ToolAnswer",
    "UndoResult",
    "UndoRun",
    "Verify",
    "VerifyResult",
]
