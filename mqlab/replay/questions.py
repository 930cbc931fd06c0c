"""Questions over the events of one run or many, in Spark SQL; each answer is a DataFrame.

`what` is a trace folder, a `Trace` or several, a sweep that has kept traces, or its folder. Each answer has
the number of the run first. Advisories, which brokers send each other, are no messages here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mqlab.errors import BadValue
from mqlab.replay import histories
from mqlab.replay.named import Events, Runs
from mqlab.replay.spark import session
from mqlab.spec.values import duration

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_CONSUMERS = """
with named as (select run, explode(consumers) as consumer from {about}
), got as (
  select run, `to` as consumer, count(*) as received from {events} where kind = 'Received' group by all
), counts as (
  select run, consumer, coalesce(received, 0) as received,
    row_number() over (partition by run order by coalesce(received, 0), consumer) as place
  from named left join got using (run, consumer)
), sums as (
  select run, sum(received) as total, count(*) as n, sum(place * received) as weighted
  from counts group by run
)
select run, consumer, received, if(total > 0, received / total, null) as share,
  if(total > 0, 2 * weighted / (n * total) - (n + 1) / n, null) as inequality
from counts join sums using (run) order by run, received desc, consumer
"""

_BUSIEST = """
with spans as (
  select run, t_us - t_us % :per as begin_us, link, count(*) as messages
  from {events} where kind = 'Forwarded' and link is not null group by all
), ranked as (
  select *, row_number() over (partition by run, begin_us order by messages desc, link) as place
  from spans
)
select run, begin_us, place, link, messages from ranked where place <= :most
order by run, begin_us, place
"""

# A window over each message tells what led to an event, where that is one of two kinds: it does for a join of
# all events with themselves.
_DUPLICATES = """
with ours as (
  select *, get(filter(before, b -> b.row = cause), 0).kind as led from (
    select e.*, regexp_like(e.destination, '^(temp-)?topic://') as topic,
      collect_list(if(e.kind in ('Returned', 'Redelivered'), struct(e.row, e.kind), null))
        over (partition by e.run, e.message order by e.row) as before
    from {events} e join {about} a on e.run = a.run and e.message between 0 and a.last
    where e.kind in ('Received', 'Enqueued', 'Returned', 'Redelivered'))
), received as (
  select *, count_if(not topic and not led <=> 'Redelivered')
    over (partition by run, message, destination) > 1 as to_several
  from ours where kind = 'Received'
), got as (
  select run, message, `to` as name, any_value(destination) as destination, count(*) as times,
    min(t_us) as first_us, max(t_us) as last_us, bool_or(to_several) as to_several
  from received group by run, message, `to`
), several as (
  select run, message, 'received' as what, name, destination, times, first_us, last_us,
    bool_or(to_several) over (partition by run, message) as to_several from got
), stored as (
  select run, message, 'stored' as what, broker as name, destination, count(*) as times,
    min(t_us) as first_us, max(t_us) as last_us
  from ours where kind = 'Enqueued' and not led <=> 'Returned' group by run, message, broker, destination
)
select run, message, what, name, destination, times, first_us, last_us from (
  select * from several where times > 1 or to_several
  union all select *, false from stored where times > 1)
order by run, message, what, name, destination
"""

# Ages are counted before they are put in order: there are far fewer of them than messages.
_LATENCY = """
with counts as (
  select e.run, e.kind, e.hops, e.age_us, count(*) as n
  from {events} e join {about} a on e.run = a.run and e.message between 0 and a.last
  where e.kind in ('Enqueued', 'Received') group by all
), ranked as (
  select *, sum(n) over (partition by run, kind, hops order by age_us) as up_to,
    sum(n) over (partition by run, kind, hops) as messages
  from counts
)
select run, kind, hops, any_value(messages) as messages,
  min(age_us) filter (where up_to >= (messages * 50 + 99) div 100) as p50_us,
  min(age_us) filter (where up_to >= (messages * 90 + 99) div 100) as p90_us,
  min(age_us) filter (where up_to >= (messages * 99 + 99) div 100) as p99_us, max(age_us) as max_us
from ranked group by run, kind, hops order by run, kind, hops
"""

_WAYS = """
with named as (
  select run, message, min_by(concat(`from`, '-', place), row) as name from (
    select e.run, e.row, e.message, e.`from`,
      row_number() over (partition by e.run, e.`from` order by e.row) as place
    from {events} e where e.kind = 'Sent')
  group by run, message
), steps as (
  select e.run, e.message, array_sort(collect_list(if(e.kind = 'Received' or
      e.kind = 'Enqueued' and not e.`from` <=> e.broker,
      struct(e.row, concat_ws(' -> ', e.`from`, coalesce(e.`to`, e.broker)) as step, e.t_us), null)))
    as steps
  from {events} e join {about} a on e.run = a.run and e.message between 0 and a.last
  group by e.run, e.message
)
select run, coalesce(name, cast(message as string)) as message, steps.step as way, steps.t_us as us
from steps left join named using (run, message)
"""

_DIFFERENCE = """
with both as (
  select run, message, o.way as one_way, p.way as other_way, o.us as one_us, p.us as other_us,
    case when p.way is null then 'only in one' when o.way is null then 'only in the other'
         when array_sort(o.way) != array_sort(p.way) then 'another way'
         when array_sort(arrays_zip(o.way, o.us)) != array_sort(arrays_zip(p.way, p.us))
         then 'another time' end as difference
  from {one} o full join {other} p using (run, message)
)
select run, message, difference, one_way, other_way, one_us, other_us from both
where difference is not null order by run, coalesce(one_us, other_us)[0], message
"""


def _ask(query: str, what: Runs, **values: int) -> DataFrame:
    found = Events.of(what)
    return session().sql(query, values, events=found.rows, about=found.about)


def stuck(what: Runs, longer: int | str = "1s") -> DataFrame:
    """Return what lay at one place longer than asked for; see `mqlab.replay.stuck`."""
    from pyspark.sql import functions as f

    found = histories.stays(Events.of(what)).where(f.col("held_us") > duration(longer, "longer"))
    return found.orderBy(f.desc("held_us"), *found.columns[:5])


def loops(what: Runs) -> DataFrame:
    """Return which messages came to a broker twice on one way; see `mqlab.replay.loops`."""
    return histories.loops(Events.of(what)).orderBy("run", "message", "again_us")


def consumers(what: Runs) -> DataFrame:
    """Return how messages were spread over consumers; see `mqlab.replay.consumers`."""
    return _ask(_CONSUMERS, what)


def busiest(what: Runs, per: int | str = "60s", most: int = 5) -> DataFrame:
    """Return the links that most messages crossed; see `mqlab.replay.busiest`."""
    span = duration(per, "per")
    if span < 1 or most < 1:
        raise BadValue(f"per={per!r}, most={most}; expected a time of more than 0, and 1 or more")
    return _ask(_BUSIEST, what, per=span, most=most)


def duplicates(what: Runs) -> DataFrame:
    """Return what came, or was stored, more than once; see `mqlab.replay.duplicates`."""
    return _ask(_DUPLICATES, what)


def latency(what: Runs) -> DataFrame:
    """Return how old messages were after each hop; see `mqlab.replay.latency`."""
    return _ask(_LATENCY, what)


def difference(one: Runs, other: Runs) -> DataFrame:
    """Return the messages that fared otherwise in two runs; see `mqlab.replay.difference`."""
    return session().sql(_DIFFERENCE, one=_ask(_WAYS, one), other=_ask(_WAYS, other))
