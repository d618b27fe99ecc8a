import { z } from 'zod'
import { sizeLimits } from './size-limits.ts'
import type { CelRule } from './structural-schema.ts'

/**
 * Keyword of a field with known but open values. TypeScript types and REST schemas list them, the CRD says `string`: an object written
 * by another controller of this API group is never rejected.
 */
export const KNOWN_VALUES = 'x-tranche-known-values'

/** Schema of a 32-bit whole number. */
export function int32(): z.ZodNumber {
  return z.int().meta({ format: 'int32' })
}

/** Schema of a 64-bit whole number; exact up to 2^53. */
export function int64(): z.ZodNumber {
  return z.int().meta({ format: 'int64' })
}

/** Keyword of a text that is a duration. A CustomResourceDefinition with bounds has its range. */
export const DURATION = 'x-tranche-duration'

/** Schema of a duration such as `30s`, `5m` or `1h30m`. */
export function duration(): z.ZodString {
  return textUpTo(sizeLimits.duration).meta({ [DURATION]: true })
}

/** Schema of an RFC 3339 timestamp. */
export function time(): z.ZodString {
  return z.string().meta({ format: 'date-time' })
}

/** Schema of a whole number or a string such as `"30%"`. */
export function intOrString(): z.ZodUnion<readonly [z.ZodNumber, z.ZodString]> {
  return z.union([z.int(), z.string()])
}

/** @returns metadata for `meta` that adds a CEL validation rule, which the API server evaluates */
export function celRule(rule: string, message: string): { readonly 'x-kubernetes-validations': readonly CelRule[] } {
  return { 'x-kubernetes-validations': [{ rule, message }] }
}

/** Schema of a string with known values; the CRD accepts any other value too. */
export function known<const Values extends readonly [string, ...string[]]>(
  values: Values,
): z.ZodEnum<{ [Value in Values[number]]: Value }> {
  return z.enum(values).meta({ [KNOWN_VALUES]: true }) as z.ZodEnum<{ [Value in Values[number]]: Value }>
}

/** Schema of a list that is always replaced as a whole (`x-kubernetes-list-type: atomic`). */
export function atomicList<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return z.array(item).meta({ 'x-kubernetes-list-type': 'atomic' })
}

/**
 * Schema of a string of at most `most` characters. The definition states the limit; validation reports longer ones, with a fix, from
 * there ({@link oversizes}).
 */
export function textUpTo(most: number): z.ZodString {
  return z.string().meta({ maxLength: most })
}

/** Schema of a `controller-revision-hash`, or of an empty text: a label value, which other programs may put into JSON or a command. */
export function revisionHash(): z.ZodString {
  return textUpTo(sizeLimits.name).meta({ maxLength: sizeLimits.name, pattern: REVISION_HASH.source })
}

/** What a `controller-revision-hash` consists of, at most {@link sizeLimits.name} characters. */
export const REVISION_HASH: RegExp = /^[-A-Za-z0-9_.]*$/

/** Schema of an atomic list of at most `most` entries, as in {@link textUpTo}. */
export function listUpTo<Item extends z.ZodType>(item: Item, most: number): z.ZodArray<Item> {
  return atomicList(item).meta({ maxItems: most })
}

/** Schema of one of several known words; the CRD accepts any other short text too. */
export function word<const Values extends readonly [string, ...string[]]>(values: Values): ReturnType<typeof known<Values>> {
  return known(values).meta({ maxLength: sizeLimits.word })
}

/** Schema of a map from name to text, such as labels. */
export function textMap(): z.ZodRecord<z.ZodString, z.ZodString> {
  return z.record(z.string(), z.string())
}

/** Schema of another API's object: every field is kept, none is read. */
export function opaqueObject(): z.ZodObject<Record<never, never>, z.core.$loose> {
  return z.looseObject({})
}

/** Reference to the workload of a Rollout or BatchRelease, in the same namespace. */
export const workloadRefSchema = z.object({
  apiVersion: z.string().meta({ description: 'API group and version of the workload.' }),
  kind: z.string().meta({ description: 'Kind of the workload.' }),
  name: z.string().meta({ description: 'Name of the workload, in the same namespace.' }),
})

/** Labels and annotations for an extra canary workload; not for DaemonSets. */
export const patchPodTemplateMetadataSchema = z.object({
  annotations: textMap().optional().meta({ description: 'Annotations to add.' }),
  labels: textMap().optional().meta({ description: 'Labels to add.' }),
})

/** Fields of every custom resource beside spec and status. The API server validates names and times. */
export const objectFields = {
  apiVersion: z.string().optional(),
  kind: z.string().optional(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
}

/** `T` with every member and list read-only, all the way down. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T
