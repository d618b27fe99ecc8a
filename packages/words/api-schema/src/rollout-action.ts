import { z } from 'zod'
import type { Frozen } from './fields.ts'
import { rolloutActionTypes } from './values.ts'

/** The action in the annotation `tranche.dev/action`. Strict: a misspelt `expectedStep` would be no guard. */
export const rolloutActionSchema = z.strictObject({
  /** Identifies this action; answered in `status.lastAction.id`. Without one, the action gets an id from its content. */
  id: z.string().min(1).optional(),
  type: z.enum(rolloutActionTypes),
  /** Step, from 1, for which the action is meant; refused at any other. */
  expectedStep: z.int().min(1).optional(),
  /** Canary revision for which the action is meant; refused for any other. */
  revision: z.string().min(1).optional(),
  /** Step to go to, from 1; only for `jump`. */
  step: z.int().min(1).optional(),
  /** Skips soak and analysis too; only for `promote`. */
  full: z.boolean().optional(),
  by: z.string().optional(),
  reason: z.string().optional(),
})
/** @see rolloutActionSchema. The id is always set: an action without one has an id made from its content. */
export type RolloutAction = Frozen<z.infer<typeof rolloutActionSchema>> & { readonly id: string }
