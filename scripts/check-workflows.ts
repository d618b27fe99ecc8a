/** Checks the workflows of .github with actionlint and zizmor: `pnpm check:workflows`. Needs Go 1.26, and Python with pip. */
import { runActionlint, runZizmor } from './workflows/linters.ts'

for (const [name, lint] of Object.entries({ actionlint: runActionlint, zizmor: runZizmor })) {
  const { passed, output } = lint('.')
  console.log(`${name}: ${passed ? 'found nothing' : output}`)
  if (!passed) process.exitCode = 1
}
