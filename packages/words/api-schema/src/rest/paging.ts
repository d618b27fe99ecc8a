import { z } from 'zod'

/** Maximum number of items per page. */
export const PAGE_MAX = 500

/** Paging parameters of a list. */
export const pageQuerySchema = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(PAGE_MAX)
    .default(100)
    .meta({ description: `Number of items per page, at most ${PAGE_MAX}.` }),
  cursor: z.string().max(1_024).optional().meta({ description: 'Value of `next` from the previous page.' }),
})

/** @returns the schema of a page of `item`; `total` counts matching items over all pages, `next` is absent on the last page */
export function pageOf<Item extends z.ZodType>(
  item: Item,
): z.ZodObject<{ items: z.ZodArray<Item>; total: z.ZodNumber; next: z.ZodOptional<z.ZodString> }> {
  return z.object({
    items: z.array(item),
    total: z.int().min(0).meta({ description: 'Number of items that match the filter, over all pages.' }),
    next: z.string().optional().meta({ description: 'Cursor of the next page. Absent on the last page.' }),
  })
}

/** Schema of a Kubernetes object name. Any other name is rejected without a look-up. */
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
export const revisionParamsSchema = objectParamsSchema.extend({ revision: name('Number or controller-revision-hash of the revision.') })
