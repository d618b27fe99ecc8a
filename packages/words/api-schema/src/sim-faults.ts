import { z } from 'zod'
import { durationMs, signedDurationMs } from './duration-ms.ts'
import type { Frozen } from './fields.ts'

/** Maximum number of faults in one document. */
export const FAULTS_MAX = 1000

// The text of each error is the fix, as an imperative. The caller adds the path and the value.

const duration = (): z.ZodString => {
  const error = 'give a duration such as 500ms, 30s or 1m30s, up to 10000h'
  return z.string({ error }).refine((text) => durationMs(text) >= 0, { error })
}
const signedDuration = (): z.ZodString => {
  const error = 'give a duration such as 30s or -1h, not 0'
  return z.string({ error }).refine((text) => Math.abs(signedDurationMs(text)) > 0, { error })
}

function names(what: string): z.ZodArray<z.ZodString> {
  const error = `give a list of ${what}, with at least one`
  return z
    .array(z.string({ error: `give one of ${what} as text` }).min(1, { error: `give one of ${what}, not empty text` }), { error })
    .min(1, { error })
}

const name = { error: 'give a name of small letters, digits and -, up to 63 characters' }

const moment = {
  name: z
    .string(name)
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, name)
    .optional(),
  at: duration().optional(),
  after: duration().optional(),
}

const lasting = { ...moment, for: duration().optional() }

const probability = { error: 'give a number above 0, up to 1' }
const count = { error: 'give a whole number from 1' }

const drawn = {
  ...lasting,
  probability: z.number(probability).gt(0, probability).lte(1, probability).optional(),
  count: z.int(count).min(1, count).optional(),
}

/** Request verbs that a fault can select. */
export const faultVerbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'] as const

const requests = {
  ...drawn,
  actors: names('users or programs, such as tranche-executor or kubelet:*').optional(),
  verbs: z
    .array(z.enum(faultVerbs, { error: `give one of ${faultVerbs.join(', ')}` }), { error: 'give a list of verbs' })
    .min(1, { error: 'give a list with at least one verb' })
    .optional(),
  resources: names('resources in the plural, such as pods or batchreleases/status').optional(),
  namespaces: names('namespaces').optional(),
  names: names('objects, by name').optional(),
}

const events = {
  ...drawn,
  actors: requests.actors,
  resources: names('resources in the plural, such as pods').optional(),
  namespaces: requests.namespaces,
}

/** HTTP statuses that a fault can answer with. */
export const faultStatuses = [400, 401, 403, 404, 409, 410, 422, 429, 500, 503, 504] as const
const statusError = { error: `give one of ${faultStatuses.join(', ')}` }
const when = { error: 'give before (the write takes no effect) or after (it takes effect, but the answer is lost)' }
const nodes = { ...moment, nodes: names('node names').max(10_000, { error: 'give at most 10000 nodes' }) }
const textMap = { error: 'give a map of texts' }
const taintEffects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const
const taint = strict({
  key: z.string({ error: 'give the key of a taint' }).min(1, { error: 'give the key of a taint' }),
  value: z.string({ error: 'give a text' }).optional(),
  effect: z.enum(taintEffects, { error: `give one of ${taintEffects.join(', ')}` }),
})

const kinds = [
  strict({ kind: z.literal('NodeDown'), ...nodes, for: duration().optional() }),
  strict({ kind: z.literal('NodeUp'), ...nodes }),
  strict({
    kind: z.literal('NodeAdd'),
    ...nodes,
    labels: z.record(z.string(), z.string(textMap), textMap).optional(),
    taints: z.array(taint, { error: 'give a list of taints' }).optional(),
  }),
  strict({ kind: z.literal('NodeRemove'), ...nodes }),
  strict({ kind: z.literal('Error'), ...requests, status: z.literal(faultStatuses, statusError), retryAfter: duration().optional() }),
  strict({ kind: z.literal('Cut'), ...requests, when: z.enum(['before', 'after'], when) }),
  strict({ kind: z.literal('Delay'), ...requests, by: duration(), when: z.enum(['before', 'after'], when).optional() }),
  strict({ kind: z.literal('WatchDelay'), ...events, by: duration() }),
  strict({ kind: z.literal('WatchStall'), ...events, by: duration() }),
  strict({ kind: z.literal('WatchCut'), ...events }),
  strict({ kind: z.literal('WatchExpire'), ...events }),
  strict({ kind: z.literal('ClockStep'), ...moment, by: signedDuration() }),
] as const

/** Every kind of fault, in the order of the documentation. */
export const simFaultKinds = kinds.map(({ shape }) => shape.kind.value)

const faultSchema = z.discriminatedUnion('kind', kinds, {
  error: (issue) => (issue.code === 'invalid_union' ? `give one of ${simFaultKinds.join(', ')}` : 'give a map with kind'),
})

const seed = { error: 'give a whole number from 0 to 4294967295' }
const list = { error: `give a list of 1 to ${FAULTS_MAX} faults` }

/**
 * Faults document, as in a file for `tranche sim --faults` and the body of `POST /sim/v1/faults`. `at` counts from the moment the document
 * is accepted, `after` from the start of the previous fault. A fault without either starts at once.
 */
export const simFaultsSchema = strict({
  seed: z.int(seed).min(0, seed).max(0xffff_ffff, seed).optional(),
  faults: z.array(faultSchema, list).min(1, list).max(FAULTS_MAX, list),
}).superRefine(({ faults }, context) => {
  const seen = new Set<string>()
  for (const [index, fault] of faults.entries()) {
    const refuse = (field: string, message: string): void => context.addIssue({ code: 'custom', path: ['faults', index, field], message })
    if (fault.at !== undefined && fault.after !== undefined) refuse('after', 'leave out at or after: each says when the fault begins')
    if (fault.name !== undefined && seen.has(fault.name)) refuse('name', 'give each fault a name of its own')
    if (fault.name !== undefined) seen.add(fault.name)
    if (fault.kind === 'Error' && fault.retryAfter !== undefined && fault.status !== 429 && fault.status !== 503)
      refuse('retryAfter', 'leave it out: only 429 and 503 carry it')
  }
})

/** A document of faults. @see simFaultsSchema */
export type SimFaults = Frozen<z.infer<typeof simFaultsSchema>>
/** One fault. @see simFaultsSchema */
export type SimFault = SimFaults['faults'][number]

/** Rejects unknown keys and names the known ones: without `probability`, a fault always happens, so a misspelt key must not pass. */
function strict<Shape extends z.core.$ZodShape>(shape: Shape) {
  const error = (issue: { readonly code: string }): string =>
    issue.code === 'unrecognized_keys' ? `leave it out; known are ${Object.keys(shape).join(', ')}` : 'give a map'
  return z.strictObject(shape, { error: error as never })
}
