/**
 * How the ledger is, as charts.
 *
 * @module
 */

import { useState } from "preact/hooks";
import type { Health, Session } from "../../model.ts";
import { useLoaded } from "../load.ts";
import { OutcomesChart } from "../parts/outcomes-chart.tsx";
import { Empty, Show } from "../parts/states.tsx";
import { Foreign, Term } from "../parts/text.tsx";
import { countOf, GLOSSARY, lengthOf, named, timeOf } from "../words.ts";

const WINDOWS = [
  [1, "1 hour"],
  [24, "1 day"],
  [168, "7 days"],
  [720, "30 days"],
] as const;

export function HealthView(_: { readonly session: Session }) {
  const [hours, choose] = useState(24);
  const { loaded } = useLoaded<Health>(`api/health?hours=${hours}`);
  return (
    <>
      <h1 tabIndex={-1}>Health</h1>
      <fieldset class="choices">
        <legend>Made in the last</legend>
        {WINDOWS.map(([value, label]) => (
          <label key={value}>
            <input
              type="radio"
              name="hours"
              checked={hours === value}
              onChange={() => choose(value)}
            />
            {label}
          </label>
        ))}
      </fieldset>
      <Show loaded={loaded}>{(health) => <Figures health={health} />}</Show>
    </>
  );
}

function Figures({ health }: { readonly health: Health }) {
  const { open, suppressed, hiddenRetries, looked, complete, now } = health;
  const { oldestUnknown, lanes } = open;
  return (
    <>
      <p class="reason">
        {countOf(looked, "operation")} read
        {complete ? "." : `; not all since ${timeOf(health.from)}: choose a shorter time.`}
      </p>
      <dl class="tiles">
        <Tile
          name="Unknown now"
          value={String(open.byStatus.unknown ?? 0)}
          isBad={(open.byStatus.unknown ?? 0) > 0}
        />
        <Tile name="Wait for approval" value={String(open.byStatus.held ?? 0)} />
        <Tile
          name="Oldest unknown"
          value={oldestUnknown ? lengthOf(Math.max(0, now - oldestUnknown.at)) : "none"}
          href={oldestUnknown && `#/operations/${oldestUnknown.id}`}
        />
        <Tile name="Unknown, of those fired" value={`${(health.unknownRate * 100).toFixed(1)} %`} />
        <Tile name="Late replies" value={String(health.lateReplies)} />
      </dl>
      <h2>Outcomes over time</h2>
      {looked === 0 ? (
        <Empty>No operation was made in this time.</Empty>
      ) : (
        <OutcomesChart health={health} />
      )}
      <div class="columns">
        <section>
          <h2>Attempts per operation</h2>
          <Bars rows={health.firedTimes.map(({ times, operations }) => [times, operations])} />
        </section>
        <section>
          <h2>Duplicates suppressed</h2>
          <Bars
            rows={[
              ["answered from the record (at least)", suppressed.callsMetAgain],
              ["found by a read, not sent again", suppressed.foundByReading],
              ["recognised by the service's key", suppressed.recognisedByService],
            ]}
          />
        </section>
        <section>
          <h2>
            <Term hint={GLOSSARY.hidden_retry}>Hidden retries</Term>
          </h2>
          <h3>By tool: requests of one attempt beyond the first</h3>
          <Bars rows={hiddenRetries.byTool.map(({ tool, requests }) => [tool, requests])} />
          <h3>By client, as this process saw them</h3>
          <Bars rows={hiddenRetries.byClient.map(({ origin, requests }) => [origin, requests])} />
        </section>
        <section>
          <h2>
            <Term hint={GLOSSARY.lane}>Lanes</Term>
          </h2>
          {lanes.length === 0 && <p class="reason">No write waits for another.</p>}
          <ul>
            {lanes.map(({ resource, holder, waiting }) => (
              <li key={resource}>
                <Foreign text={resource} />: {countOf(waiting, "write waits", "writes wait")}
                {holder && (
                  <>
                    {" "}
                    behind{" "}
                    <a href={`#/operations/${holder.id}`}>
                      <Foreign text={holder.tool} />
                    </a>{" "}
                    ({named(holder.status)})
                  </>
                )}
              </li>
            ))}
          </ul>
        </section>
      </div>
      <details>
        <summary>What a ledger cannot tell</summary>
        <ul>
          {health.cannotTell.map((what) => (
            <li key={what}>{what}</li>
          ))}
        </ul>
      </details>
    </>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly href?: string | undefined;
  readonly isBad?: boolean;
}

const Tile = ({ name, value, href, isBad = false }: TileProps) => (
  <div class={isBad ? "tile bad" : "tile"}>
    <dt>{name}</dt>
    <dd>{href ? <a href={href}>{value}</a> : value}</dd>
  </div>
);

/** Counts as horizontal bars, each with its number beside it. */
function Bars({ rows }: { readonly rows: readonly (readonly [string, number])[] }) {
  if (rows.length === 0) return <p class="reason">None.</p>;
  const most = Math.max(1, ...rows.map(([, n]) => n));
  return (
    <ul class="bars">
      {rows.map(([name, n]) => (
        <li key={name}>
          <span class="bars-name">
            <Foreign text={name} />
          </span>
          <span class="bars-line">
            <span class="bars-fill" style={{ width: `${(100 * n) / most}%` }} />
          </span>
          <span class="number">{n.toLocaleString()}</span>
        </li>
      ))}
    </ul>
  );
}
