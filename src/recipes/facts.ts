/**
 * What every recipe says of itself, and how long the services remember a key.
 *
 * A recipe is a whole tool definition. What it cannot know is said here, because a tool's
 * options have no place for it.
 *
 * @module
 */

/** What a recipe knows and does not know, in short sentences for people. */
export interface RecipeFacts {
  /** Where the key is put. */
  readonly keyGoes: string;
  /** How long a repeated key is recognised by the service. */
  readonly window: string;
  /** How the state is read. */
  readonly reads: string;
  /** What no reader of this service can tell. */
  readonly cannotKnow: string;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** How long a service remembers a key, by its own documentation: what `keyed` wants. A window that is not published is not here. */
export const keyWindows: {
  /** API v1: keys are removed when they are "at least 24 hours old" (docs.stripe.com/idempotency). */
  readonly stripeV1: { readonly forMs: number };
  /** 24 hours (resend.com/docs/dashboard/emails/idempotency-keys). */
  readonly resend: { readonly forMs: number };
  /** A row is a memory for as long as it is not deleted; a day is what a resend needs. */
  readonly sqlRow: { readonly forMs: number };
} = {
  stripeV1: { forMs: DAY_MS },
  resend: { forMs: DAY_MS },
  sqlRow: { forMs: DAY_MS },
};

/** What each recipe knows and does not know, by its name: the table of docs/recipes.md. */
export const recipeFacts: Readonly<Record<string, RecipeFacts>> = {
  stripeRefund: {
    keyGoes: "Idempotency-Key and metadata",
    window: "24 h",
    reads: "lists the refunds of the payment, by metadata; done if succeeded or pending",
    cannotKnow: "whether a pending refund reaches the customer; why one failed",
  },
  stripePayment: {
    keyGoes: "Idempotency-Key and metadata",
    window: "24 h",
    reads:
      "lists the payments since the first send, of the customer if there is one, by metadata; with `confirm`, done if the money is taken",
    cannotKnow:
      "what is in a list beyond 1000 payments; whether a payment that is not confirmed, or waits for the customer, is ever paid",
  },
  githubIssue: {
    keyGoes: "a hidden comment at the end of the body",
    window: "none",
    reads: "lists the newest issues of the repository, by the comment",
    cannotKnow:
      "that an issue is not there: the list lags, by minutes in reports; one that was deleted, moved, or whose body was rewritten",
  },
  githubPull: {
    keyGoes: "a hidden comment at the end of the body",
    window: "none",
    reads: "lists the pull requests of the branch, by the comment",
    cannotKnow:
      "that a pull request is not there: the list lags; one whose body or base was changed, or whose owner was renamed",
  },
  slackMessage: {
    keyGoes: "metadata",
    window: "none",
    reads: "the channel's history, or the thread, since the first send, by metadata",
    cannotKnow:
      "how far the history lags; a message that was deleted; channels given by name; anything, if the token may not read metadata",
  },
  linearIssue: {
    keyGoes: "the issue's own id",
    window: "for as long as the issue exists",
    reads: "by the id, archived issues included",
    cannotKnow: "an issue that was deleted",
  },
  jiraIssue: {
    keyGoes: "a label, which people see",
    window: "none",
    reads: "searches for the label",
    cannotKnow:
      "that an issue is not there: the search lags by seconds to minutes; one whose label was removed",
  },
  twilioMessage: {
    keyGoes: "nowhere: there is no place",
    window: "none",
    reads: "lists the messages to this number since the first send, and their status",
    cannotKnow:
      "whose a message is: any other to this number leaves it unknown, unless `soleSender`; how far the list lags",
  },
  sendgridMail: {
    keyGoes: "custom_args",
    window: "none",
    reads: "with `activity`: the Email Activity API, by the argument, and the status; else nothing",
    cannotKnow:
      "without the add-on, anything; with it, that a mail was not taken, or how far it lags; whether a mail is read",
  },
  resendMail: {
    keyGoes: "Idempotency-Key",
    window: "24 h",
    reads: "nothing: the key is sent again",
    cannotKnow: "after 24 hours anything; whether a mail is read",
  },
  smtpMail: {
    keyGoes: "Message-ID",
    window: "none: a server may recognise it or not",
    reads: "with `countSent`: your Sent folder, by Message-ID; else nothing",
    cannotKnow: "that a mail was not sent: a missing copy proves nothing",
  },
  s3Create: {
    keyGoes: "the object's metadata",
    window: "for as long as the object exists: If-None-Match",
    reads: "the object's head, by metadata",
    cannotKnow:
      "an object that was deleted or written over since; whether a server other than AWS keeps the condition",
  },
  s3Replace: {
    keyGoes: "the object's metadata",
    window: "until the object changes: If-Match on its ETag",
    reads: "the object's head, by metadata",
    cannotKnow:
      "content that was written over since; that the old content was put back, which lets it pass; whether a server other than AWS keeps the condition",
  },
  sqlInsert: {
    keyGoes: "a unique column",
    window: "for as long as the row exists; sent again for 24 h",
    reads: "selects by the key",
    cannotKnow: "a row that was deleted; on a replica, one that has not come yet",
  },
};
