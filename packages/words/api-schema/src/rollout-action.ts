import { z } from 'zod'
import type { Frozen } from './fields.ts'
import { sizeLimits } from './size-limits.ts'
import { rolloutActionTypes } from './values.ts'

/** Action in the annotation `tranche.dev/action`. Unknown fields are rejected, because a misspelt `expectedStep` would not guard anything. */
export const rolloutActionSchema = z.strictObject({
  /** Id of the action, answered in `status.lastAction.id`. If absent, it is derived from the content. Up to 256 characters: the status keeps ids. */
  id: z.string().min(1).max(sizeLimits.identity).optional(),
  type: z.enum(rolloutActionTypes),
  /** Step, from 1, that the action is meant for. At any other step the action is rejected. */
  expectedStep: z.int().min(1).optional(),
  /** Canary revision that the action is meant for. For any other revision the action is rejected. */
  revision: z.string().min(1).optional(),
  /** Step to go to, from 1. Only for `jump`. */
  step: z.int().min(1).optional(),
  /** Whether soak and analysis are skipped too. Only for `promote`. */
  full: z.boolean().optional(),
  by: z.string().optional(),
  reason: z.string().optional(),
})
/** @see rolloutActionSchema. The id is always set; if the annotation has none, it is derived from the content. */
export type RolloutAction = Frozen<z.infer<typeof rolloutActionSchema>> & { readonly id: string }
