/**
 * Ready tools for services many agents write to: where the key goes, how long it is known, and how to look
 * whether it happened. Each is a whole definition: `hf.tool(stripeRefund({ client }))`.
 *
 * Subpath export `"holdfire/recipes"`.
 *
 * @module
 */

import type { RecipeFacts } from "./facts.ts";
import { githubIssueFacts } from "./github-issue.ts";
import { githubPullFacts } from "./github-pull.ts";
import { jiraIssueFacts } from "./jira.ts";
import { linearIssueFacts } from "./linear.ts";
import { resendMailFacts } from "./resend.ts";
import { s3CreateFacts, s3ReplaceFacts } from "./s3.ts";
import { sendgridMailFacts } from "./sendgrid.ts";
import { slackMessageFacts } from "./slack.ts";
import { smtpMailFacts } from "./smtp.ts";
import { sqlInsertFacts } from "./sql.ts";
import { stripePaymentFacts } from "./stripe-payment.ts";
import { stripeRefundFacts } from "./stripe-refund.ts";
import { twilioMessageFacts } from "./twilio.ts";

export { keyWindows, type RecipeFacts } from "./facts.ts";
export { type GithubIssueArguments, type GithubIssueIntent, githubIssue } from "./github-issue.ts";
export type { GithubItem, OctokitLike } from "./github-items.ts";
export { type GithubPullArguments, type GithubPullIntent, githubPull } from "./github-pull.ts";
export {
  type JiraIssue,
  type JiraIssueArguments,
  type JiraIssueIntent,
  jiraIssue,
} from "./jira.ts";
export {
  type LinearIssue,
  type LinearIssueArguments,
  type LinearIssueIntent,
  linearIssue,
} from "./linear.ts";
export type { MailArguments, MailIntent } from "./mail.ts";
export { type ResendMail, resendMail } from "./resend.ts";
export { type S3Tool, s3Create, s3Replace } from "./s3.ts";
export type {
  S3Arguments,
  S3Intent,
  S3Like,
  S3Object,
  S3Place,
  S3Put,
  S3Sending,
  S3Version,
} from "./s3-object.ts";
export { type SendgridAccess, type SendgridMail, sendgridMail } from "./sendgrid.ts";
export type { ServiceAccess, ServiceFetch } from "./service.ts";
export { type SlackMessage, type SlackMessageArguments, slackMessage } from "./slack.ts";
export { type SmtpMail, type SmtpOptions, type SmtpTransport, smtpMail } from "./smtp.ts";
export {
  type SqlArguments,
  type SqlOptions,
  type SqlRow,
  type SqlValue,
  sqlInsert,
} from "./sql.ts";
export type {
  StripeKeyed,
  StripeMark,
  StripeObject,
  StripePage,
  StripePaging,
} from "./stripe-list.ts";
export {
  type StripePaymentArguments,
  type StripePaymentIntent,
  type StripePayments,
  stripePayment,
} from "./stripe-payment.ts";
export {
  type StripeRefundArguments,
  type StripeRefundIntent,
  type StripeRefunds,
  stripeRefund,
} from "./stripe-refund.ts";
export {
  type TwilioAccess,
  type TwilioMessage,
  type TwilioMessageArguments,
  twilioMessage,
} from "./twilio.ts";

/** What each recipe knows and does not know, by its name. */
export const recipeFacts: Readonly<Record<string, RecipeFacts>> = {
  stripeRefund: stripeRefundFacts,
  stripePayment: stripePaymentFacts,
  githubIssue: githubIssueFacts,
  githubPull: githubPullFacts,
  slackMessage: slackMessageFacts,
  linearIssue: linearIssueFacts,
  jiraIssue: jiraIssueFacts,
  twilioMessage: twilioMessageFacts,
  sendgridMail: sendgridMailFacts,
  resendMail: resendMailFacts,
  smtpMail: smtpMailFacts,
  s3Create: s3CreateFacts,
  s3Replace: s3ReplaceFacts,
  sqlInsert: sqlInsertFacts,
};
