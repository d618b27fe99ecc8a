import type { ClusterSnapshot, Forecast, ForecastRequest } from '@tranche/api-schema'
import type { ErrorCode } from '@tranche/errors'

/** What a thread is told. */
export interface PlanOrder {
  readonly snapshot: ClusterSnapshot
  readonly request: ForecastRequest
}

/** What it answers. An error of our catalog is told by its parts: threads share no classes. */
export type PlanAnswer =
  | { readonly kind: 'told'; readonly forecast: Forecast }
  | { readonly kind: 'refused'; readonly code: ErrorCode; readonly message: string; readonly hint?: string }
