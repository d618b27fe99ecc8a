import { z } from 'zod'
import type { CelRule } from './structural-schema.ts'

/**
 * Keyword of a field whose values we know but do not close: our types and answers name them, the CRD says `string`, so
 * that an object written by another controller of this API group is never refused.
 */
export const KNOWN_VALUES = 'x-tranche-known-values'

/** A 32-bit whole number. */
export function int32(): z.ZodNumber {
  return z.int().meta({ format: 'int32' })
}

/** A 64-bit whole number; exact up to 2^53. */
export function int64(): z.ZodNumber {
  return z.int().meta({ format: 'int64' })
}

/** A moment, RFC 3339. */
export function time(): z.ZodString {
  return z.string().meta({ format: 'date-time' })
}

/** A whole number, or a string such as `"30%"`. */
export function intOrString(): z.ZodUnion<readonly [z.ZodNumber, z.ZodString]> {
  return z.union([z.int(), z.string()])
}

/** @returns what `meta` takes to hold a node to a rule in CEL, which an API server evaluates */
export function celRule(rule: string, message: string): { readonly 'x-kubernetes-validations': readonly CelRule[] } {
  return { 'x-kubernetes-validations': [{ rule, message }] }
}

/** A string of which we know the values, open to others in the CRD. */
export function known<const Values extends readonly [string, ...string[]]>(
  values: Values,
): z.ZodEnum<{ [Value in Values[number]]: Value }> {
  return z.enum(values).meta({ [KNOWN_VALUES]: true }) as z.ZodEnum<{ [Value in Values[number]]: Value }>
}

/** A list that is always written whole. */
export function atomicList<Item extends z.ZodType>(item: Item): z.ZodArray<Item> {
  return z.array(item).meta({ 'x-kubernetes-list-type': 'atomic' })
}

/** A map from name to text, such as labels. */
export function textMap(): z.ZodRecord<z.ZodString, z.ZodString> {
  return z.record(z.string(), z.string())
}

/** An object of another API of which we keep everything and read nothing. */
export function opaqueObject(): z.ZodObject<Record<never, never>, z.core.$loose> {
  return z.looseObject({})
}

/** The workload that a Rollout or BatchRelease is about; in the same namespace. */
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

/** What every object of ours carries beside spec and status. Names and times are the API server's business. */
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
