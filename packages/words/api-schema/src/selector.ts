import { z } from 'zod'
import { type Frozen, listUpTo, textUpTo, word } from './fields.ts'
import { sizeLimits } from './size-limits.ts'

const selectorRequirementSchema = z.object({
  key: textUpTo(sizeLimits.labelKey).meta({ description: 'Label key.' }),
  operator: word(['In', 'NotIn', 'Exists', 'DoesNotExist']).meta({ description: 'Comparison: In, NotIn, Exists or DoesNotExist.' }),
  values: listUpTo(textUpTo(sizeLimits.name), sizeLimits.values).optional().meta({ description: 'Values for In and NotIn.' }),
})

/** Fields of a label selector. An object must match every entry. @param labels description of `matchLabels` */
const selectorFields = (labels: string) => ({
  matchLabels: z
    .record(z.string(), textUpTo(sizeLimits.name))
    .meta({ maxProperties: sizeLimits.requirements })
    .optional()
    .meta({ description: labels }),
  matchExpressions: listUpTo(selectorRequirementSchema, sizeLimits.requirements)
    .optional()
    .meta({ description: 'Further label requirements.' }),
})

/** Selects nodes by label. A node must match every entry. */
export const nodeSelectorSchema = z.object(selectorFields('Labels and values that a node must have.'))
/** @see nodeSelectorSchema */
export type NodeSelector = Frozen<z.infer<typeof nodeSelectorSchema>>

/** Selects pods by label. A pod must match every entry. */
export const podSelectorSchema = z.object(selectorFields('Labels and values that a pod must have.'))
