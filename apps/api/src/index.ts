export { describeApi } from './create-api.ts'
export type { LoginOptions } from './login/login-options.ts'
export { type ApiOptions, type RunningApi, startApi } from './start-api.ts'
export { defaultLimits, type Limits } from './http/limits.ts'
