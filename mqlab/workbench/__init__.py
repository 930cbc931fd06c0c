"""The desk behind a picture: it keeps the runs that are shown, and answers what the picture is asked.

Everything comes and goes as JSON values, so a page in a notebook, in a browser without a server, or a test
may ask. What can be asked stands in `WorkbenchSession.answer`.
"""

from __future__ import annotations

from mqlab.workbench.branch import Branch
from mqlab.workbench.desk import WorkbenchSession

__all__ = ["Branch", "WorkbenchSession"]
