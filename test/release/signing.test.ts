import { describe, expect, it } from 'vitest'
import { signatureOf } from '../../scripts/release/provenance.ts'
import { statementIn, throwAwaySigning } from '../../scripts/release/signing.ts'

const bytes = Buffer.from('files')

describe('a signature of a dry run', () => {
  const signing = throwAwaySigning()

  it('of bytes is verified with its key', async () => {
    const bundle = await signing.signBytes(bytes)
    await expect(signing.verify(bundle, bytes)).resolves.toBeUndefined()
    expect(signing.publicKey).toContain('BEGIN PUBLIC KEY')
  })

  it('of a statement is verified with its key, and contains the statement', async () => {
    const statement = signatureOf('ab'.repeat(32))
    const bundle = await signing.signStatement(statement)
    await expect(signing.verify(bundle)).resolves.toBeUndefined()
    expect(statementIn(bundle)).toEqual(statement)
  })

  // cosign compares a name of the key with that of its own key, which is empty.
  it('names no key', async () => {
    const { dsseEnvelope } = await signing.signStatement(signatureOf('ab'.repeat(32)))
    expect(dsseEnvelope?.signatures[0]?.keyid ?? '').toBe('')
  })

  it('is rejected for other bytes', async () => {
    const bundle = await signing.signBytes(bytes)
    await expect(signing.verify(bundle, Buffer.from('other'))).rejects.toThrow()
  })

  it('is rejected by another key', async () => {
    const bundle = await throwAwaySigning().signBytes(bytes)
    await expect(signing.verify(bundle, bytes)).rejects.toThrow()
  })

  it('is rejected if the statement was changed', async () => {
    const bundle = await signing.signStatement(signatureOf('ab'.repeat(32)))
    const payload = Buffer.from(JSON.stringify(signatureOf('cd'.repeat(32)))).toString('base64')
    const changed = { ...bundle, dsseEnvelope: { ...bundle.dsseEnvelope!, payload } }
    await expect(signing.verify(changed as typeof bundle)).rejects.toThrow()
  })
})
