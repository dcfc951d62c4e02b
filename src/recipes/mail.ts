/**
 * A mail as every mail recipe takes it.
 *
 * @module
 */

/** A mail to one recipient: of several, some could get it and others not. */
export interface MailArguments {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html?: string;
}

/** A mail with this subject is wanted once; its words are no part of the intent. */
export type MailIntent = Pick<MailArguments, "from" | "to" | "subject">;

export const mailIntent = ({ from, to, subject }: MailArguments): MailIntent => ({
  from,
  to,
  subject,
});
