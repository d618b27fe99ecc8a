import type { RecordedAction, WishBody, WishType } from '@tranche/api-schema'

/** One wish, with who asks and from where. */
export interface Wish {
  /** Under which it is recorded and answered; the same for every attempt of the same wish. */
  readonly id: string
  readonly type: WishType
  readonly body: WishBody
  /** User as the API server knows them. */
  readonly by: string
  readonly via: RecordedAction['via']
  /** Address that the request came from. */
  readonly from?: string | undefined
}
