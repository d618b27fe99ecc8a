import { resources } from '@tranche/sim-api'
import { expect, it } from 'vitest'
import { aConfigMap, aServer, refusal } from '../testing.ts'

const mebibyte = 1024 * 1024

const refused: Record<string, { readonly object: object; readonly field: string; readonly says: string }> = {
  'annotations above 256 KiB in total': {
    object: aConfigMap('a', { annotations: { one: 'x'.repeat(200_000), two: 'x'.repeat(70_000) } }),
    field: 'metadata.annotations',
    says: 'Too long: may not be more than 262144 bytes',
  },
  'values above 1 MiB in total': {
    object: { ...aConfigMap('a'), data: { one: 'x'.repeat(mebibyte), two: 'x' } },
    field: '[]',
    says: 'Too long: may not be more than 1048576 bytes',
  },
  'values above 1 MiB in bytes, though shorter in characters': {
    object: { ...aConfigMap('a'), data: { one: '€'.repeat(mebibyte / 2) } },
    field: '[]',
    says: 'Too long: may not be more than 1048576 bytes',
  },
  'a key that is not a file name': {
    object: { ...aConfigMap('a'), data: { 'a/b': 'x' } },
    field: 'data[a/b]',
    says: "must consist of alphanumeric characters, '-', '_' or '.'",
  },
  'a key that leads upwards': { object: { ...aConfigMap('a'), data: { '..': 'x' } }, field: 'data[..]', says: "must not be '.'" },
  'a key in data and in binaryData': {
    object: { ...aConfigMap('a'), data: { k: 'x' }, binaryData: { k: 'eA==' } },
    field: 'data[k]',
    says: 'duplicate of key present in binaryData',
  },
}

it.each(Object.entries(refused))('a ConfigMap with %s is refused', async (_name, { object, field, says }) => {
  const error = await refusal(client().create(resources.configMaps, object))
  expect([error.code, error.status.details?.causes?.[0]?.field]).toEqual([422, field])
  expect(error.message).toContain(says)
})

it('a ConfigMap of exactly 1 MiB is accepted', async () => {
  const { metadata } = await client().create(resources.configMaps, { ...aConfigMap('a'), data: { one: 'x'.repeat(mebibyte) } })
  expect(metadata.name).toBe('a')
})

it('a Secret above 1 MiB, decoded, is refused', async () => {
  const data = { one: Buffer.alloc(mebibyte + 1).toString('base64') }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's', namespace: 'default' }, data }
  expect((await refusal(client().create(resources.secrets, secret))).status.details?.causes).toEqual([
    { reason: 'FieldValueTooLong', field: 'data', message: 'Too long: may not be more than 1048576 bytes' },
  ])
})

function client() {
  return aServer().server.clientFor({ name: 'tester' })
}
