/**
 * Ready tools for services many agents write to: where the key goes, how long it is known, and how to read
 * whether it happened. Each is a whole definition: `hf.tool(stripeRefund({ client }))`.
 *
 * Subpath export `"holdfire/recipes"`.
 *
 * @module
 */

export { keyWindows, type RecipeFacts, recipeFacts } from "./facts.ts";
export {
  type GithubAccess,
  type GithubIssueArguments,
  type GithubIssueIntent,
  type GithubItem,
  type GithubPullArguments,
  type GithubPullIntent,
  githubIssue,
  githubPull,
  type OctokitLike,
} from "./github.ts";
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
export {
  type MailArguments,
  type MailIntent,
  type ResendMail,
  resendMail,
  type SendgridAccess,
  type SendgridMail,
  sendgridMail,
} from "./mail.ts";
export type { LagOptions } from "./read-list.ts";
export {
  type S3Arguments,
  type S3Intent,
  type S3Like,
  type S3Object,
  type S3Place,
  type S3Put,
  type S3Sending,
  type S3Tool,
  type S3Version,
  s3Create,
  s3Replace,
} from "./s3.ts";
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
export {
  type StripeKeyed,
  type StripeMark,
  type StripeObject,
  type StripePage,
  type StripePaging,
  type StripePaymentArguments,
  type StripePaymentIntent,
  type StripePayments,
  type StripeRefundArguments,
  type StripeRefundIntent,
  type StripeRefunds,
  stripePayment,
  stripeRefund,
} from "./stripe.ts";
export {
  type TwilioAccess,
  type TwilioMessage,
  type TwilioMessageArguments,
  twilioMessage,
} from "./twilio.ts";
