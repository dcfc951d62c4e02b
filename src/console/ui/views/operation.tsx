/**
 * One operation: how it stands, its timeline as a picture and in words, and what a person can do about it.
 *
 * @module
 */

import { Fragment } from "preact";
import type { OperationDetail, Session } from "../../model.ts";
import { useLoaded } from "../load.ts";
import { type OnAnswered, ShowTold, useTold } from "../parts/answer.tsx";
import { Picture } from "../parts/picture.tsx";
import { Also, QuestionBody } from "../parts/question.tsx";
import { Show, Status } from "../parts/states.tsx";
import { Foreign, Term, Time } from "../parts/text.tsx";
import { UnknownBody } from "../parts/unknown.tsx";
import { GLOSSARY, lengthOf } from "../words.ts";

export function OperationView({ session, id }: { readonly session: Session; readonly id: string }) {
  const path = `api/operations/${encodeURIComponent(id)}`;
  const { loaded, again } = useLoaded<OperationDetail>(path, (changed) => changed === id);
  const [told, onAnswered] = useTold(again);
  return (
    <>
      <p>
        <a href="#/operations">All operations</a>
      </p>
      <h1 tabIndex={-1}>
        {loaded.tag === "there" ? <Foreign text={loaded.value.operation.tool} /> : "Operation"}
      </h1>
      <ShowTold told={told} />
      <Show loaded={loaded}>{(detail) => <Detail {...{ detail, session, onAnswered }} />}</Show>
    </>
  );
}

interface Given {
  readonly detail: OperationDetail;
  readonly session: Session;
  readonly onAnswered: OnAnswered;
}

function Detail({ detail, session, onAnswered }: Given) {
  const { operation, sentence, facts, timeline, question, unknown, consequences } = detail;
  return (
    <>
      <p class="sentence">
        <Status status={operation.status} reason={operation.reason} explained />{" "}
        {!unknown && <Foreign text={sentence} />}
      </p>
      {question && (
        <section class="card held">
          <h2>Approval</h2>
          <QuestionBody {...{ question, session, consequences, onAnswered }} />
        </section>
      )}
      {unknown && (
        <section class="card unknown">
          <h2>What a person can say</h2>
          <UnknownBody item={unknown} {...{ session, consequences, onAnswered }} />
        </section>
      )}
      <h2>Timeline</h2>
      <Picture detail={detail} />
      <ol class="timeline">
        {timeline.map(({ at, what, kind }, index) => (
          <li key={index} class={kind}>
            <Time at={at} /> <span class="offset">+{lengthOf(at - operation.createdAt)}</span>{" "}
            <Foreign text={what} />
          </li>
        ))}
      </ol>
      <h2>Facts</h2>
      <dl class="facts">
        <dt>
          <Term hint={GLOSSARY.scope}>scope</Term>
        </dt>
        <dd>
          <Foreign text={operation.scope} />
        </dd>
        <dt>
          <Term hint={GLOSSARY.key}>key</Term>
        </dt>
        <dd>{operation.key}</dd>
        <dt>id</dt>
        <dd>{operation.id}</dd>
        {facts.map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>
              <Foreign text={value} />
            </dd>
          </Fragment>
        ))}
      </dl>
      {!question && !unknown && <Also others={detail.alsoUnknown} />}
    </>
  );
}
