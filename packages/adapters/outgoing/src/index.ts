export type { Resolve } from './address-rule.ts'
export { type HostRule, isHostAllowed, parseHostRule } from './host-rule.ts'
export {
  createOutgoing,
  MAX_ANSWER_BYTES,
  MAX_REDIRECTS,
  type Outgoing,
  type OutgoingFailure,
  type OutgoingOptions,
  type OutgoingRequest,
  type OutgoingResult,
} from './outgoing.ts'
export type { SecretAnswer, SecretReader, SecretRef } from './secret-reader.ts'
