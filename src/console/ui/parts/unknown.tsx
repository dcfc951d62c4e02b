/**
 * An operation whose outcome is unknown: the evidence, and the three answers.
 *
 * @module
 */

import type { Inbox, Session, UnknownItem } from "../../model.ts";
import { lengthOf } from "../words.ts";
import { type AnswerChoice, Answers, type OnAnswered } from "./answer.tsx";
import { Also, ReadOnly } from "./question.tsx";
import { Box, Foreign } from "./text.tsx";

interface Given {
  readonly item: UnknownItem;
  readonly session: Session;
  readonly consequences: Inbox["consequences"];
  readonly onAnswered: OnAnswered;
}

export function UnknownBody({ item, session, consequences, onAnswered }: Given) {
  const { operation, sentence, intent, last, evidence, canLook } = item;
  return (
    <>
      <p>
        <Foreign text={sentence} />
      </p>
      {intent && (
        <>
          <h3>What was asked for</h3>
          <Box label="What was asked for">
            <Foreign text={intent} />
          </Box>
        </>
      )}
      <h3>Evidence</h3>
      <ul>
        {last && (
          <li>
            <Foreign text={last} />
          </li>
        )}
        <li>{evidence === 0 ? "No late reply was filed." : `Late replies filed: ${evidence}.`}</li>
        {!canLook && (
          <li>
            Nothing here can read it: the tool has no reader, or this console was started without
            --config.
          </li>
        )}
      </ul>
      <Also others={item.alsoUnknown} />
      {session.mayDecide ? (
        <Answers
          id={operation.id}
          choices={choicesOf(item, session.now)}
          person={session.person}
          {...{ consequences, onAnswered }}
        />
      ) : (
        <ReadOnly />
      )}
    </>
  );
}

function choicesOf(item: UnknownItem, now: number): readonly AnswerChoice[] {
  const { asOf, mayStillSendUntil, canLook } = item;
  const resolving = { path: "resolve", takesNote: true } as const;
  const warning =
    mayStillSendUntil === undefined || mayStillSendUntil <= now
      ? undefined
      : `An attempt may still send, for ${lengthOf(mayStillSendUntil - now)} at most. I know that it does not.`;
  const happened: AnswerChoice = {
    name: "committed",
    label: "It happened",
    confirm: "Record that it happened",
    tone: "good",
    body: { as: "committed", asOf },
    ...resolving,
  };
  const didNot: AnswerChoice = {
    name: "not_applied",
    label: "It did not happen",
    confirm: "Record that it did not happen",
    tone: "bad",
    body: { as: "not_applied", asOf },
    warning,
    ...resolving,
  };
  const look: AnswerChoice = {
    name: "look",
    label: "Look again",
    confirm: "Read it",
    tone: "plain",
    path: "look",
    body: {},
    takesNote: false,
  };
  return canLook ? [happened, didNot, look] : [happened, didNot];
}
