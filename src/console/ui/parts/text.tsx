/**
 * Text that came from a model, a caller or a service. The server has written hidden characters as escapes; here they
 * are marked, so that they are not overlooked.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { lengthOf, timeOf } from "../words.ts";

const ESCAPES = /(\\u\{[0-9a-f]{1,6}\}|\\u[0-9a-f]{4})/;

export function Foreign({ text }: { readonly text: string }) {
  const parts = text.split(ESCAPES);
  if (parts.length === 1) return <>{text}</>;
  return (
    <>
      {parts.map((part, at) =>
        at % 2 === 1 ? (
          <mark class="hidden-character" title="A hidden character">
            {part}
          </mark>
        ) : (
          part
        ),
      )}
    </>
  );
}

/** A word of ours, explained when it is pointed at or focused. */
export function Term({
  hint,
  children,
}: {
  readonly hint: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: focusing it shows the explanation.
    <span class="term" tabIndex={0}>
      {children}
      <span role="tooltip" class="hint">
        {hint}
      </span>
    </span>
  );
}

export function Time({ at, now }: { readonly at: number; readonly now?: number }) {
  const iso = Math.abs(at) <= 8.64e15 ? new Date(at).toISOString() : "";
  return (
    <time dateTime={iso} title={now === undefined ? undefined : timeOf(at)}>
      {now === undefined ? timeOf(at) : `${lengthOf(now - at)} ago`}
    </time>
  );
}

/** Text with line breaks, which scrolls where it is long. */
export function Box({
  label,
  kind,
  children,
}: {
  readonly label: string;
  readonly kind?: string;
  readonly children: ComponentChildren;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: it is no group of inputs.
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so it must be reached by keyboard.
    <pre class={kind} tabIndex={0} role="group" aria-label={label}>
      {children}
    </pre>
  );
}
