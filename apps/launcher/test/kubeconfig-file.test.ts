import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { writeAccessFiles } from '../src/dev/kubeconfig-file.ts'

const access = { server: 'https://127.0.0.1:1234', ca: 'PEM', token: 'secret' }

describe('writeAccessFiles', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('writes a kubeconfig that names server, certificate and token', () => {
    const { kubeconfig, caFile } = writeAccessFiles(access, join(folder, 'config'))
    const config = parse(readFileSync(kubeconfig, 'utf8')) as { clusters: { cluster: object }[]; users: { user: object }[] }
    expect(config.clusters[0]!.cluster).toEqual({
      server: access.server,
      'certificate-authority-data': Buffer.from('PEM').toString('base64'),
    })
    expect(config.users[0]!.user).toEqual({ token: 'secret' })
    expect(readFileSync(caFile, 'utf8')).toBe('PEM')
  })

  it('is readable only by its owner', () => {
    const { kubeconfig } = writeAccessFiles(access, join(folder, 'config'))
    expect(statSync(kubeconfig).mode & 0o077).toBe(0)
  })

  it('replaces a kubeconfig of its own', () => {
    const path = join(folder, 'config')
    writeAccessFiles(access, path)
    writeAccessFiles({ ...access, token: 'other' }, path)
    expect(readFileSync(path, 'utf8')).toContain('other')
  })

  it('refuses to replace the kubeconfig of another cluster', () => {
    const path = join(folder, 'config')
    writeFileSync(path, 'current-context: production\n')
    expect(() => writeAccessFiles(access, path)).toThrow(expect.objectContaining({ code: 'FILE_UNWRITABLE' }))
    expect(readFileSync(path, 'utf8')).toBe('current-context: production\n')
  })

  it('says that a folder does not exist', () => {
    const missing = join(folder, 'missing')
    expect(() => writeAccessFiles(access, join(missing, 'config'))).toThrow(
      expect.objectContaining({
        code: 'FILE_UNWRITABLE',
        message: `${join(missing, 'config')} cannot be written: the folder ${missing} does not exist`,
      }),
    )
  })

  it('removes its files from a temporary folder, and keeps a requested file', () => {
    const temporary = writeAccessFiles(access, undefined)
    const named = writeAccessFiles(access, join(folder, 'config'))
    temporary.remove()
    named.remove()
    expect(existsSync(temporary.kubeconfig)).toBe(false)
    expect(existsSync(named.kubeconfig)).toBe(true)
  })
})
