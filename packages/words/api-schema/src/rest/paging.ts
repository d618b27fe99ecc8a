import { z } from 'zod'

/** The most items of one page. */
export const PAGE_MAX = 500

/** How a list is read in pages. */
export const pageQuerySchema = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE_MAX)
    .default(100)
    .meta({ description: `Items of the page, at most ${PAGE_MAX}.` }),
  cursor: z.string().max(1_024).optional().meta({ description: 'What the page before named as `next`.' }),
})

/** @returns the schema of a page of `item`; `total` counts what the filter lets through, `next` is absent on the last page */
export function pageOf<Item extends z.ZodType>(
  item: Item,
): z.ZodObject<{ items: z.ZodArray<Item>; total: z.ZodNumber; next: z.ZodOptional<z.ZodString> }> {
  return z.object({
    items: z.array(item),
    total: z.int().min(0).meta({ description: 'How many the filter lets through, over all pages.' }),
    next: z.string().optional().meta({ description: 'Cursor of the page that follows; absent on the last.' }),
  })
}

/** As Kubernetes names objects: whatever else is asked for need not be looked up. */
const name = (description: string): z.ZodString =>
  z
    .string()
    .max(253)
    .regex(
      /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/,
      'a name has lower-case letters, digits, - and . alone, and begins and ends with a letter or digit',
    )
    .meta({ description })

/** Path of everything in one namespace. */
export const namespaceParamsSchema = z.object({ namespace: name('Namespace.') })
/** Path of one object. */
export const objectParamsSchema = namespaceParamsSchema.extend({ name: name('Name of the object.') })
/** Path of one node of a Rollout. */
export const nodeParamsSchema = objectParamsSchema.extend({ node: name('Name of the node.') })
/** Path of one revision of a Rollout's DaemonSet. */
export const revisionParamsSchema = objectParamsSchema.extend({ revision: name('Its number, or its controller-revision-hash.') })
