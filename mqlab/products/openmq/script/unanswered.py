"""Steps that ask a broker which does not answer: it is frozen, waits for others, or has lost its database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.engine.clock import NEVER
from mqlab.products.openmq.broker import administration as admin
from mqlab.products.openmq.client import clients
from mqlab.products.openmq.network import changes
from mqlab.products.openmq.script import actions
from mqlab.products.openmq.script.operation import Outcome, RunningStep, ScriptStep, is_of
from mqlab.spec import action as a
from mqlab.spec.openmq import actions as o

if TYPE_CHECKING:
    from mqlab.products.openmq.broker.model import Broker
    from mqlab.products.openmq.network.state import Cluster
    from mqlab.spec.action import Action

    Asked = tuple[Cluster, ScriptStep[Action], int]

ADMINISTRATOR = 10_000_000  # us that an administrator waits for a connection to a broker that says nothing


def waits(lab: Cluster, step: ScriptStep[Action]) -> RunningStep | None:
    """Return what who asks a broker that hangs, or is suspended, waits for.

    A client gives up at a suspended one, an administrator does not. One that hangs takes changes of
    properties; the port of one that is quiesced refuses new clients, whatever else waits (C4090).
    """
    action = step.action
    if not step.addresses or isinstance(action, a.Producer) or type(action) in actions.FAULTS:
        return None
    broker, opens = lab.brokers.get(step.place), isinstance(action, actions.CONNECTS)
    if broker is not None and broker.serves and not opens:
        lab.looked_at.add(broker)
    if broker is not None and _changes(step, broker) and changes.waits_for_database(broker):
        if not isinstance(action, o.DestroyDestination):
            if is_of(step, a.Consumer):
                changes.begin_subscription(broker, step)
            return RunningStep(changes.has_database, (lab, step, 0), step.limit, _act, insists=True)
        broker.hangs = True  # it tries for minutes, and answers nothing meanwhile
    if broker is not None and broker.hangs and not broker.suspended:
        refuses = broker.refuses and opens
        manages = isinstance(action, actions.OF_MANAGED) and not admin.is_managed(broker, step.dest)
        quiesces = isinstance(action, (o.Quiesce, o.Unquiesce))  # which asks for no destination
        if refuses or manages or quiesces or (isinstance(action, o.UpdateDestination) and lab.database_up):
            return None
        return RunningStep(_answers, (lab, step, 0), step.limit, _act, insists=True)
    if not clients.hangs(lab, step):
        return None
    end = NEVER
    new = broker is not None and broker not in lab.looked_at  # whose administrator has no connection yet
    if opens or new:
        tries = int(step.options.get("reconnect_attempts", 3)) if step.options.get("reconnect") else 1
        after = clients.CONNECTING * tries if opens else ADMINISTRATOR
        end = lab.clock.now + after
        lab.later(after)
    asked = lab, step, end
    return RunningStep(_may_go_on, asked, step.limit, _act, insists=True)


def connects(blocked: ScriptStep[Action]) -> bool:
    """Whether a blocked step opens a client's connection to a frozen broker, which takes several answers.

    What administrators and sessions have asked meanwhile is read before (OpenMQ rule 8.8).
    """
    is_frozen = blocked.waits is not None and blocked.waits.condition is _may_go_on
    return is_frozen and isinstance(blocked.action, actions.CONNECTS)


def _may_go_on(asked: Asked) -> bool:
    lab, step, end = asked
    return lab.clock.now >= end or not clients.hangs(lab, step)


def _answers(asked: Asked) -> bool:
    lab, step, _ = asked
    return not lab.brokers[step.place].hangs


def _changes(step: ScriptStep[Action], broker: Broker) -> bool:
    """Whether an action changes what all brokers know of, but for creations of destinations."""
    if is_of(step, a.Consumer):
        return bool(step.action.durable) and not changes.is_subscribed(broker, step)
    return isinstance(step.action, actions.CHANGES)


def _act(asked: Asked) -> Outcome:
    lab, step, _ = asked
    return False if clients.hangs(lab, step) else actions.DO[type(step.action)](lab, step)
