import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ownCommand } from '../src/dev/own-command.ts'

describe('ownCommand', () => {
  const throughPnpm = 'npx -y pnpm@12.21.0 tranche'
  let folder: string
  let bin: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
    bin = join(folder, 'node_modules', '.bin')
    mkdirSync(bin, { recursive: true })
    for (const file of [join(folder, 'tranche'), join(bin, 'tranche')]) {
      writeFileSync(file, '#!/bin/sh\n')
      chmodSync(file, 0o755)
    }
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it('is tranche for a start without pnpm', () => {
    expect(ownCommand({ PATH: '/nowhere' })).toBe('tranche')
  })

  it('goes through pnpm if pnpm started the program and the PATH has no tranche', () => {
    expect(ownCommand({ npm_lifecycle_event: 'tranche', PATH: '/nowhere' })).toBe(throughPnpm)
    expect(ownCommand({ npm_lifecycle_event: 'start' })).toBe(throughPnpm)
  })

  it('ignores the folders of packages, which are on the PATH only while pnpm runs', () => {
    expect(ownCommand({ npm_lifecycle_event: 'tranche', PATH: bin })).toBe(throughPnpm)
  })

  it('is tranche if the PATH has one', () => {
    expect(ownCommand({ npm_lifecycle_event: 'tranche', PATH: `/nowhere:${folder}` })).toBe('tranche')
  })
})
