import type { Environment } from '@marcbachmann/cel-js'
import { registerAddresses } from './addresses.ts'
import { registerFormats } from './formats.ts'
import { registerLists } from './lists.ts'
import { registerOptionals } from './optionals.ts'
import { registerQuantities } from './quantities.ts'
import { registerTexts } from './texts.ts'
import { registerUrls } from './urls.ts'

/** Registers the CEL libraries of Kubernetes, and string extensions that the library lacks. */
export function registerLibraries(environment: Environment): Environment {
  registerTexts(environment)
  registerLists(environment)
  registerOptionals(environment)
  registerQuantities(environment)
  registerUrls(environment)
  registerAddresses(environment)
  registerFormats(environment)
  return environment
}
