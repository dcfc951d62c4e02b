/**
 * Counts as horizontal bars, each with its number beside it.
 *
 * @module
 */

import { Foreign } from "./text.tsx";

export function Bars({ rows }: { readonly rows: readonly (readonly [string, number])[] }) {
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
