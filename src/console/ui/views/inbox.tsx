/**
 * What waits for a person: questions first, then what is unknown.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import type { Inbox, OperationRow, Session } from "../../model.ts";
import { useLoaded } from "../load.ts";
import { ShowTold, useTold } from "../parts/answer.tsx";
import { QuestionBody } from "../parts/question.tsx";
import { Empty, Show, Status } from "../parts/states.tsx";
import { Foreign, Time } from "../parts/text.tsx";
import { UnknownBody } from "../parts/unknown.tsx";
import { countOf } from "../words.ts";

export function InboxView({ session }: { readonly session: Session }) {
  const { loaded, again } = useLoaded<Inbox>("api/inbox");
  const [told, onAnswered] = useTold(again);
  return (
    <>
      <h1 tabIndex={-1}>Inbox</h1>
      <ShowTold told={told} />
      <Show loaded={loaded}>
        {({ questions, unknowns, more, consequences }) => (
          <>
            {questions.length + unknowns.length === 0 && (
              <Empty>
                <strong>Nothing waits for a person.</strong>
                <p>
                  Calls of destructive tools and operations whose outcome is unknown appear here by
                  themselves.
                </p>
              </Empty>
            )}
            {questions.length > 0 && (
              <h2>{countOf(questions.length, "call needs", "calls need")} approval</h2>
            )}
            {questions.map((question) => (
              <Card key={question.digest} operation={question.operation} session={session}>
                <QuestionBody {...{ question, session, consequences, onAnswered }} />
              </Card>
            ))}
            {unknowns.length > 0 && (
              <h2>{countOf(unknowns.length, "operation is", "operations are")} unknown</h2>
            )}
            {unknowns.map((item) => (
              <Card key={item.operation.id} operation={item.operation} session={session}>
                <UnknownBody {...{ item, session, consequences, onAnswered }} />
              </Card>
            ))}
            {more && <p class="reason">There are more; they follow as these are settled.</p>}
          </>
        )}
      </Show>
    </>
  );
}

interface CardProps {
  readonly operation: OperationRow;
  readonly session: Session;
  readonly children: ComponentChildren;
}

const Card = ({ operation, session, children }: CardProps) => (
  <article class={`card ${operation.status}`} data-operation={operation.id}>
    <header>
      <strong class="name">
        <a href={`#/operations/${operation.id}`}>
          <Foreign text={operation.tool} />
        </a>
      </strong>{" "}
      <Status status={operation.status} reason={operation.reason} explained />
      <p class="reason">
        in <Foreign text={operation.scope} />, <Time at={operation.createdAt} now={session.now} />
      </p>
    </header>
    {children}
  </article>
);
