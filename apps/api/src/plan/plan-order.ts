import type { ClusterSnapshot, Forecast, ForecastRequest } from '@tranche/api-schema'
import type { ErrorCode } from '@tranche/errors'

/** Input of the forecast thread. */
export interface PlanOrder {
  readonly snapshot: ClusterSnapshot
  readonly request: ForecastRequest
}

/** Output of the forecast thread. An AppError is sent as its fields, because threads share no classes. */
export type PlanAnswer =
  | { readonly kind: 'told'; readonly forecast: Forecast }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string; readonly hint?: string }
