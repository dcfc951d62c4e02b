/**
 * A question to a person: what would be done, with which arguments, what it changes, and what else is unknown.
 *
 * @module
 */

import type { AlsoUnknown, CutText, Inbox, Question, Session } from "../../model.ts";
import { GLOSSARY, lengthOf } from "../words.ts";
import { type AnswerChoice, Answers, type OnAnswered } from "./answer.tsx";
import { Box, Foreign, Term } from "./text.tsx";

interface Given {
  readonly question: Question;
  readonly session: Session;
  readonly consequences: Inbox["consequences"];
  readonly onAnswered: OnAnswered;
}

export function QuestionBody({ question, session, consequences, onAnswered }: Given) {
  const { operation, expiresAt, answered, canBeShown, alsoDoes, definition, drift } = question;
  const left = expiresAt - session.now;
  return (
    <>
      <p>
        Needs approval because {question.why}.{" "}
        {left > 0 ? `The question expires in ${lengthOf(left)}.` : "The question has expired."}
      </p>
      {canBeShown ? (
        <>
          <Cut title="Arguments" cut={question.args} />
          {alsoDoes.length > 0 && (
            <>
              <h3>It also</h3>
              <ul>
                {alsoDoes.map((one) => (
                  <li key={one}>
                    <Foreign text={one} />
                  </li>
                ))}
              </ul>
            </>
          )}
          {definition && <Cut title="What its server says of it" cut={definition} />}
          {drift && <Cut title="It differs from" cut={drift} />}
          <Plan plan={question.plan} />
        </>
      ) : (
        !answered && (
          <p class="notice bad">
            What is asked cannot be shown here: it is encrypted with a key that this console does
            not have. Answer it where your program can decrypt it.
          </p>
        )
      )}
      <Also others={question.alsoUnknown} />
      {answered ? (
        <p class="notice">It is approved, and is fired when its call is made again.</p>
      ) : session.mayDecide ? (
        <Answers
          id={operation.id}
          choices={choicesOf(question)}
          person={session.person}
          {...{ consequences, onAnswered }}
        />
      ) : (
        <ReadOnly />
      )}
    </>
  );
}

export const ReadOnly = () => (
  <p class="reason">This console is read-only for you. To answer, it is started with --decide.</p>
);

function choicesOf({ digest, canBeShown }: Question): readonly AnswerChoice[] {
  const shared = { body: { digest }, takesNote: true } as const;
  const approve: AnswerChoice = {
    name: "approve",
    label: "Approve",
    confirm: "Approve",
    tone: "good",
    path: "approve",
    ...shared,
  };
  const deny: AnswerChoice = {
    name: "deny",
    label: "Deny",
    confirm: "Deny",
    tone: "bad",
    path: "deny",
    ...shared,
  };
  return canBeShown ? [approve, deny] : [deny];
}

function Cut({ title, cut }: { readonly title: string; readonly cut: CutText }) {
  return (
    <>
      <h3>{title}</h3>
      <Box label={title}>
        <Foreign text={cut.text} />
      </Box>
      {cut.leftOut > 0 && (
        <p class="notice bad">
          NOT ALL OF IT: {cut.leftOut.toLocaleString()} characters are left out. To see all: npx
          holdfire show KEY --json
        </p>
      )}
    </>
  );
}

const SIGNS = { "#": "head", "+": "plus", "-": "minus", "@": "skip", " ": "same" } as const;

function Plan({ plan }: { readonly plan: Question["plan"] }) {
  const title = (
    <h3>
      <Term hint={GLOSSARY.plan}>Plan</Term>
    </h3>
  );
  if (!plan || plan.lines.length === 0) {
    const what = plan
      ? "According to its plan it would change nothing."
      : "The tool has no plan, so it is not known what it would change.";
    return (
      <>
        {title}
        <p>{what}</p>
      </>
    );
  }
  return (
    <>
      {title}
      <Box label="Plan" kind="diff">
        {plan.lines.map(({ sign, text }, at) => (
          <span key={at} class={SIGNS[sign]}>
            {sign === "#" ? "" : `${sign} `}
            <Foreign text={text} />
            {"\n"}
          </span>
        ))}
      </Box>
      {plan.leftOut > 0 && (
        <p class="notice bad">NOT ALL OF IT: {plan.leftOut} lines are left out or cut.</p>
      )}
    </>
  );
}

export function Also({ others }: { readonly others: readonly AlsoUnknown[] }) {
  if (others.length === 0) return null;
  return (
    <>
      <h3>Also unknown in this scope</h3>
      <ul>
        {others.map(({ id, tool, sentence, intent }) => (
          <li key={id}>
            <a href={`#/operations/${id}`}>
              <Foreign text={tool} />
            </a>
            : <Foreign text={sentence} />{" "}
            {intent && (
              <code>
                <Foreign text={intent} />
              </code>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
