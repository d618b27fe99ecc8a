export type { Resolve } from './address-rule.ts'
export { type HostRule, isHostAllowed, parseHostRule } from './host-rule.ts'
export {
  createEgressClient,
  MAX_ANSWER_BYTES,
  MAX_REDIRECTS,
  type EgressClient,
  type EgressFailure,
  type EgressClientOptions,
  type EgressRequest,
  type EgressResult,
} from './egress-client.ts'
export type { SecretAnswer, SecretReader, SecretRef } from './secret-reader.ts'
export { messageText, type NotifierRequest } from './notify/message-text.ts'
export { createNotifier, type Notifier, type NotifierParts, NOTIFY_TIMEOUT_MS, type NotifierResult } from './notify/notifier.ts'
export { SIGNATURE_HEADER, signatureOf } from './notify/signature.ts'
