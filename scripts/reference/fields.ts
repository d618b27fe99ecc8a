import { code, prose } from './markdown.ts'

/** Common subset of CustomResourceDefinition and OpenAPI schemas that the reference shows. */
export interface FieldSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly format?: string
  readonly default?: unknown
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly pattern?: string
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly additionalProperties?: FieldSchema | boolean
  readonly items?: FieldSchema
  readonly anyOf?: readonly FieldSchema[]
  readonly oneOf?: readonly FieldSchema[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[]
}

/** @returns a row for each field of an object, followed by its nested fields: path, type, required or default, description */
export function fieldRows(schema: FieldSchema, path = ''): readonly (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const here = path === '' ? name : `${path}.${name}`
    const isRequired = schema.required?.includes(name) === true
    return [[code(here), typeText(field), needText(field, isRequired), prose(field.description ?? '')], ...below(field, here)]
  })
}

/** @returns a row for each CEL rule of a schema: path, message */
export function ruleRows(schema: FieldSchema, path = ''): readonly (readonly string[])[] {
  const own = schema['x-kubernetes-validations']?.map(({ message }) => [code(path), prose(message)]) ?? []
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    ruleRows(field, path === '' ? name : `${path}.${name}`),
  )
  return [...own, ...members, ...(schema.items === undefined ? [] : ruleRows(schema.items, `${path}[]`))]
}

/** @returns the type as text: `string`, `list of integer`, `map of string`, or a link to a schema of the same page */
export function typeText(schema: FieldSchema): string {
  if (schema.$ref !== undefined) return linkTo(schema.$ref)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return [...new Set(choices.map(typeText))].join(' or ')
  if (schema.const !== undefined) return code(String(schema.const))
  if (schema.enum !== undefined) return schema.enum.map((value) => (value === '' ? 'empty' : code(String(value)))).join(', ')
  if (schema.items !== undefined) return `list of ${typeText(schema.items)}${amounts(schema.minItems, schema.maxItems, 'entries')}`
  if (typeof schema.additionalProperties === 'object')
    return `map of ${typeText(schema.additionalProperties)}${amounts(undefined, schema.maxProperties, 'entries')}`
  const type = typeof schema.type === 'string' ? schema.type : (schema.type?.join(' or ') ?? 'anything')
  return `${type}${schema.format === undefined || schema.format.startsWith('int') ? '' : ` (${schema.format})`}${bounds(schema)}`
}

function below(field: FieldSchema, path: string): readonly (readonly string[])[] {
  if (field.properties !== undefined) return fieldRows(field, path)
  if (field.items !== undefined) return below(field.items, `${path}[]`)
  if (typeof field.additionalProperties === 'object') return below(field.additionalProperties, `${path}.*`)
  return (field.anyOf ?? field.oneOf ?? []).flatMap((choice) => below(choice, path))
}

function needText({ default: value }: FieldSchema, isRequired: boolean): string {
  if (value !== undefined) return code(JSON.stringify(value))
  return isRequired ? 'required' : ''
}

function bounds({ minimum, maximum, minLength, maxLength }: FieldSchema): string {
  // Bounds of all safe integers carry no information.
  const isOf = (value: number | undefined): number | undefined => (Math.abs(value ?? 0) >= 2 ** 31 - 1 ? undefined : value)
  return amounts(isOf(minimum), isOf(maximum)) || amounts(minLength, maxLength, 'letters')
}

function amounts(least: number | undefined, most: number | undefined, of = ''): string {
  const unit = of === '' ? '' : ` ${of}`
  if (least !== undefined && most !== undefined) return `, ${least} to ${most}${unit}`
  if (least !== undefined) return `, at least ${least}${unit}`
  return most === undefined ? '' : `, at most ${most}${unit}`
}

function linkTo(reference: string): string {
  const name = reference.split('/').at(-1) ?? ''
  return `[${name}](#${name.toLowerCase()})`
}
