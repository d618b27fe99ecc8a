#!/usr/bin/env node
// Plain JavaScript, so that an old Node.js can parse it and report its version.
const needed = 24
const running = Number(process.versions.node.split('.')[0])

if (running < needed) {
  console.error(
    `NODE_TOO_OLD: tranche needs Node.js ${needed} or newer, and this is ${process.versions.node} (${process.execPath}). ` +
      `Run it through pnpm in the repository, which brings Node.js ${needed} on Linux, or install Node.js ${needed}.`,
  )
  process.exitCode = 1
} else {
  const { keepCompiledCode } = await import('./compile-cache.mjs')
  keepCompiledCode()
  await import('../src/main.ts').catch(sayWhatIsMissing)
}

/** Imports no other module, since one may be the cause of the error. */
function sayWhatIsMissing(error) {
  if (error.code !== 'ERR_MODULE_NOT_FOUND' || !error.message.startsWith('Cannot find package')) throw error
  console.error(`DEPENDENCY_MISSING: ${error.message.split(' imported from')[0]}. Run npx -y pnpm@12.21.0 install in the checkout.`)
  process.exitCode = 1
}
