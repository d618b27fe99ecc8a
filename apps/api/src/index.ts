export { describeApi } from './create-api.ts'
export type { Caller } from './auth/caller.ts'
export { createOwnReviews, readOwnUser } from './auth/own-reviews.ts'
export type { Question } from './auth/reviews.ts'
export type { LoginOptions } from './login/login-options.ts'
export {
  type ApiOptions,
  type RunningApi,
  startApi,
  startUnboundApi,
  type UnboundApi,
  type UnboundApiOptions,
} from './start-api.ts'
export { defaultLimits, type Limits } from './limits/limits.ts'
export type { HandedAnswer, HandedRequest, SendRequest } from './http/take-requests.ts'
