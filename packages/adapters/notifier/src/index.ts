export { messageText, type NotifierRequest } from './message-text.ts'
export { createNotifier, type Notifier, type NotifierParts, NOTIFY_TIMEOUT_MS, type NotifierResult } from './notifier.ts'
export { SIGNATURE_HEADER, signatureOf } from './signature.ts'
