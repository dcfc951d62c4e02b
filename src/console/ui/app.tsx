/**
 * The page: who looks at what, and the view that the address names.
 *
 * @module
 */

import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Session } from "../model.ts";
import { takeToken } from "./api.ts";
import { useConnected, useLoaded } from "./load.ts";
import { Failed } from "./parts/states.tsx";
import { HealthView } from "./views/health.tsx";
import { InboxView } from "./views/inbox.tsx";
import { OperationView } from "./views/operation.tsx";
import { OperationsView } from "./views/operations.tsx";
import "./style.css";

/**
 * What the navigation shows, in this order: the first word of the address, and what people read. One operation has
 * an address of its own (`#/operations/ID`) and no entry here.
 */
const VIEWS = [
  ["inbox", "Inbox"],
  ["operations", "Operations"],
  ["health", "Health"],
] as const;

const NO_CHANGE = () => false;

function App() {
  const { view, id, query } = useAddress();
  const { loaded, again } = useLoaded<Session>("api/session", NO_CHANGE);
  const isConnected = useConnected();
  const session = useNow(loaded.tag === "there" ? loaded.value : undefined);
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    const name = VIEWS.find(([route]) => route === view)?.[1] ?? "Inbox";
    document.title = `${name} · holdfire console`;
    main.current?.querySelector("h1")?.focus();
  }, [view, id]);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <span class="brand">holdfire</span>
        <nav aria-label="Views">
          {VIEWS.map(([route, name]) => (
            <a key={route} href={`#/${route}`} aria-current={route === view ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
        {session && (
          <span class="who">
            {session.person}
            {session.mayDecide ? "" : ", read-only"} · <span class="ledger">{session.ledger}</span>{" "}
            <span class={isConnected ? "live on" : "live"}>
              {isConnected ? "live" : "not connected"}
            </span>
          </span>
        )}
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        {session?.suspect && (
          <Failed
            problem={{
              error: `The ledger may have lost data: ${session.suspect}.`,
              hint: "Once you have checked it: npx holdfire trust --by NAME",
            }}
          />
        )}
        {loaded.tag === "failed" && (
          <>
            <h1 tabIndex={-1}>holdfire console</h1>
            <Failed problem={loaded.problem} />
            <button type="button" onClick={() => void again()}>
              Try again
            </button>
          </>
        )}
        {session && view === "inbox" && <InboxView session={session} />}
        {session && view === "operations" && id === undefined && (
          <OperationsView session={session} query={query} />
        )}
        {session && view === "operations" && id !== undefined && (
          <OperationView key={id} session={session} id={id} />
        )}
        {session && view === "health" && <HealthView session={session} />}
      </main>
    </>
  );
}

/** The address is `#/view/id?query`. */
interface Address {
  readonly view: string;
  readonly id: string | undefined;
  readonly query: URLSearchParams;
}

function addressNow(): Address {
  const [path = "", query] = location.hash.replace(/^#\/?/, "").split("?");
  const [view, id] = path.split("/");
  return {
    view: view || "inbox",
    id: id && decodeURIComponent(id),
    query: new URLSearchParams(query),
  };
}

function useAddress(): Address {
  const [address, set] = useState(addressNow);
  useEffect(() => {
    const onChange = () => {
      takeToken();
      set(addressNow());
    };
    addEventListener("hashchange", onChange);
    // It may have changed since the page was first drawn.
    onChange();
    return () => removeEventListener("hashchange", onChange);
  }, []);
  return address;
}

const EVERY_MS = 5_000;

/** The session with the ledger's time as it goes on. */
function useNow(session: Session | undefined): Session | undefined {
  const [passed, set] = useState(0);
  useEffect(() => {
    const began = performance.now();
    const timer = setInterval(() => set(performance.now() - began), EVERY_MS);
    return () => clearInterval(timer);
  }, [session]);
  return session && { ...session, now: session.now + passed };
}

takeToken();
const place = document.getElementById("app");
if (place) {
  place.textContent = "";
  render(<App />, place);
}
