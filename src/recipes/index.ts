/**
 * Ready tools for services many agents write to: where the key goes, how long it is known, and how to read
 * whether it happened. Each is a whole definition: `hf.tool(stripeRefund({ client }))`.
 *
 * Subpath export `"holdfire/recipes"`.
 *
 * @module
 */

export { type RecipeFacts, recipeFacts } from "./facts.ts";
export { keyWindows } from "./key-windows.ts";
export {
  type DiscordMessage,
  type DiscordMessageArguments,
  discordMessage,
} from "./messages/discord.ts";
export {
  type MailArguments,
  type MailIntent,
  type ResendMail,
  resendMail,
  type SendgridAccess,
  type SendgridMail,
  sendgridMail,
} from "./messages/mail.ts";
export { type SlackMessage, type SlackMessageArguments, slackMessage } from "./messages/slack.ts";
export { type SmtpMail, type SmtpOptions, type SmtpTransport, smtpMail } from "./messages/smtp.ts";
export {
  type TelnyxAccess,
  type TelnyxMessage,
  type TelnyxMessageArguments,
  telnyxMessage,
} from "./messages/telnyx.ts";
export {
  type TwilioAccess,
  type TwilioMessage,
  type TwilioMessageArguments,
  twilioMessage,
} from "./messages/twilio.ts";
export {
  type AdyenPayment,
  type AdyenPaymentArguments,
  type AdyenPaymentIntent,
  adyenPayment,
} from "./payments/adyen.ts";
export {
  type CheckoutAccess,
  type CheckoutCompleteArguments,
  type CheckoutCompleteIntent,
  type CheckoutSession,
  type CheckoutSessionArguments,
  checkoutComplete,
  checkoutSession,
} from "./payments/agentic-commerce.ts";
export {
  type PaypalCaptureArguments,
  type PaypalMoney,
  type PaypalObject,
  type PaypalOrderArguments,
  type PaypalOrderCaptureArguments,
  type PaypalRefundArguments,
  type PaypalRefundIntent,
  paypalCapture,
  paypalOrder,
  paypalOrderCapture,
  paypalRefund,
} from "./payments/paypal.ts";
export {
  type ShopifyRefund,
  type ShopifyRefundArguments,
  type ShopifyRefundIntent,
  shopifyRefund,
} from "./payments/shopify.ts";
export {
  type SquarePayment,
  type SquarePaymentArguments,
  type SquarePaymentIntent,
  squarePayment,
} from "./payments/square.ts";
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
} from "./payments/stripe.ts";
export type { LagOptions } from "./read-list.ts";
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
} from "./records/github.ts";
export {
  type CalendarEvent,
  type CalendarEventArguments,
  type CalendarEventIntent,
  type CalendarTime,
  googleCalendarEvent,
} from "./records/google-calendar.ts";
export {
  type HubspotAccess,
  type HubspotRecord,
  type HubspotRecordArguments,
  hubspotRecord,
} from "./records/hubspot.ts";
export {
  type JiraIssue,
  type JiraIssueArguments,
  type JiraIssueIntent,
  jiraIssue,
} from "./records/jira.ts";
export {
  type LinearIssue,
  type LinearIssueArguments,
  type LinearIssueIntent,
  linearIssue,
} from "./records/linear.ts";
export {
  type SalesforceAccess,
  type SalesforceRecord,
  type SalesforceRecordArguments,
  salesforceRecord,
} from "./records/salesforce.ts";
export {
  type ZendeskTicket,
  type ZendeskTicketArguments,
  type ZendeskTicketIntent,
  zendeskTicket,
} from "./records/zendesk.ts";
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
export {
  type SqlArguments,
  type SqlOptions,
  type SqlRow,
  type SqlValue,
  sqlInsert,
} from "./sql.ts";
