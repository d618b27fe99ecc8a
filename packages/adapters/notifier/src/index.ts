export { messageText, type Telling } from './message-text.ts'
export { createNotifier, type Notifier, type NotifierParts, TELL_TIMEOUT_MS, type Told } from './notifier.ts'
export { SIGNATURE_HEADER, signatureOf } from './signature.ts'
