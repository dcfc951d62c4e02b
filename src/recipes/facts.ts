/**
 * What every recipe says of itself.
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
  paypalRefund: {
    keyGoes: "PayPal-Request-Id and custom_id",
    window: "45 days",
    reads:
      "nothing: the key is sent again, and gets the latest status; done if completed or pending",
    cannotKnow: "after 45 days anything; whether a pending refund reaches the payer",
  },
  paypalCapture: {
    keyGoes: "PayPal-Request-Id",
    window: "45 days",
    reads: "nothing: the key is sent again, and gets the latest status; done if completed",
    cannotKnow: "after 45 days anything; when the money of a pending capture comes",
  },
  paypalOrder: {
    keyGoes: "PayPal-Request-Id and custom_id",
    window: "6 h; up to 72 h by your account manager",
    reads: "nothing: the key is sent again",
    cannotKnow: "after 6 hours anything: orders cannot be listed; whether the payer approves it",
  },
  paypalOrderCapture: {
    keyGoes: "PayPal-Request-Id",
    window: "6 h; up to 72 h by your account manager",
    reads: "the order, and its first capture; done if completed",
    cannotKnow: "who captured the order, if it was not a tool of this ledger",
  },
  squarePayment: {
    keyGoes: "idempotency_key and reference_id",
    window: "none: it is not published",
    reads:
      "lists the payments of the location since the first send, by reference_id, and their status",
    cannotKnow: "that a payment is not there: the list may lag",
  },
  adyenPayment: {
    keyGoes: "Idempotency-Key and metadata",
    window: "at least 31 days in copies of its documentation; sent again for 24 h",
    reads: "nothing: the key is sent again; done if authorised",
    cannotKnow:
      "after 24 hours anything, but by webhooks; what another regional endpoint has done under the key",
  },
  checkoutSession: {
    keyGoes: "Idempotency-Key",
    window: "24 h",
    reads: "nothing: the key is sent again",
    cannotKnow: "after 24 hours anything; whether a merchant keeps the protocol",
  },
  checkoutComplete: {
    keyGoes: "Idempotency-Key",
    window: "24 h",
    reads: "the session; done if it is completed and has an order",
    cannotKnow:
      "who completed the session, if it was not a tool of this ledger; whether a merchant keeps the protocol",
  },
  shopifyRefund: {
    keyGoes: "the directive @idempotent",
    window: "24 h",
    reads: "nothing: the key is sent again",
    cannotKnow: "after 24 hours anything: the refunds of an order do not carry the key",
  },
  zendeskTicket: {
    keyGoes: "Idempotency-Key and external_id",
    window: "2 h",
    reads: "lists the tickets of the external id",
    cannotKnow:
      "how far the list lags; a ticket that was deleted, or whose external id was changed",
  },
  salesforceRecord: {
    keyGoes: "a field that is External ID and Unique",
    window: "none: a second request would write over changes",
    reads: "the record, by that field",
    cannotKnow: "a record that was deleted, or whose field was changed",
  },
  hubspotRecord: {
    keyGoes: "a property with unique values",
    window: "none: a second request would write over changes",
    reads: "the record, by that property",
    cannotKnow: "a record that was deleted, or whose property was changed",
  },
  googleCalendarEvent: {
    keyGoes: "the event's own id",
    window: "none: a second id is not always noticed",
    reads: "the event, by the id; done if it is not cancelled",
    cannotKnow: "how far the read lags; whether the guests come",
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
  discordMessage: {
    keyGoes: "nonce, with enforce_nonce",
    window: 'none: it is "a few minutes"',
    reads: "the channel's messages since the first send, by the nonce",
    cannotKnow: "that a message is not there: whether the list has nonces is not documented",
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
  telnyxMessage: {
    keyGoes: "Idempotency-Key",
    window: "24 h with `keyDeclared`; else none",
    reads: "nothing: the key is sent again",
    cannotKnow:
      "after 24 hours anything; whether the endpoint declares the key; whether it is read",
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
