import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
} from '@simplewebauthn/server';
import { isCrossOrigin } from '../../core/approvals/passkey-assertion.ts';

/** The stored data of a passkey. */
export interface KnownPasskey {
  /** base64url. */
  readonly id: string;
  /** COSE, base64url. */
  readonly publicKey: string;
  /** Number of uses according to the authenticator. Omitted or 0: any number is accepted. */
  readonly counter?: number | undefined;
}

export interface Assertion {
  /** The challenge for the person, base64url. */
  readonly challenge: string;
  /** The browser's response: a WebAuthn `AuthenticationResponseJSON`, not yet checked. */
  readonly response: unknown;
  readonly passkey: KnownPasskey;
  /** Pages on which it may have been signed, such as `https://tranche.example:8321`. */
  readonly origin: string | readonly string[];
  /** Host name that the passkey belongs to. */
  readonly rpId: string;
}

/**
 * Whether the owner of the passkey signed exactly this challenge, on one of these pages, and proved their identity to
 * the device (user verification). Uses only its arguments, so that an old assertion can be verified without a desk.
 */
export async function verifyAssertion({
  challenge,
  response,
  passkey,
  origin,
  rpId,
}: Assertion): Promise<{ readonly ok: true; readonly counter: number } | { readonly problem: string }> {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  if (!isCredential(response)) return { problem: 'this is not a passkey assertion' };
  if (response.id !== passkey.id) return { problem: 'it was signed with another passkey' };
  if (isFramed(response)) return { problem: FRAMED };
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: response as AuthenticationResponseJSON, // oxlint-disable-line typescript/no-unsafe-type-assertion -- the package checks the rest, and throws
      expectedChallenge: challenge,
      expectedOrigin: typeof origin === 'string' ? origin : [...origin],
      expectedRPID: rpId,
      credential: {
        id: passkey.id,
        publicKey: bytesOf(passkey.publicKey),
        counter: passkey.counter ?? 0,
      },
      requireUserVerification: true,
    });
    return verified
      ? { ok: true, counter: authenticationInfo.newCounter }
      : { problem: 'the signature does not match this passkey' };
  } catch (error) {
    return { problem: wordsOf(error) };
  }
}

/** A passkey that a device has just created. */
export interface NewPasskey extends KnownPasskey {
  readonly counter: number;
}

export interface Registration {
  readonly challenge: string;
  /** A WebAuthn `RegistrationResponseJSON`, not yet checked. */
  readonly response: unknown;
  readonly origin: string | readonly string[];
  readonly rpId: string;
}

/** Ed25519, ES256, RS256 (COSE): the algorithms that devices use. Node calls none of them experimental. */
const ALGORITHMS = [-8, -7, -257];

/** The passkey that a device has created for this page, or why it is not valid. */
export async function verifyRegistration({
  challenge,
  response,
  origin,
  rpId,
}: Registration): Promise<{ readonly passkey: NewPasskey } | { readonly problem: string }> {
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  if (!isCredential(response)) return { problem: 'this is not a new passkey' };
  if (isFramed(response)) return { problem: FRAMED };
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: response as RegistrationResponseJSON, // oxlint-disable-line typescript/no-unsafe-type-assertion -- the package checks the rest, and throws
      expectedChallenge: challenge,
      expectedOrigin: typeof origin === 'string' ? origin : [...origin],
      expectedRPID: rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!verified) return { problem: 'the device did not prove that it holds the passkey' };
    const { id, publicKey, counter } = registrationInfo.credential;
    return { passkey: { id, publicKey: textOf(publicKey), counter } };
  } catch (error) {
    return { problem: wordsOf(error) };
  }
}

/** Options with which a browser asks for any passkey of this host. */
export async function signInOptions(rpId: string): Promise<PublicKeyCredentialRequestOptionsJSON> {
  const { generateAuthenticationOptions } = await import('@simplewebauthn/server');
  return await generateAuthenticationOptions({ rpID: rpId, userVerification: 'required' });
}

export interface Enrolment {
  readonly rpId: string;
  /** The device shows this beside the name. */
  readonly desk: string;
  readonly person: string;
  /** Ids of the person's passkeys, so that a device does not create a second one. */
  readonly known: readonly string[];
}

/** Options with which a browser lets a device create a passkey. */
export async function enrolmentOptions({
  rpId,
  desk,
  person,
  known,
}: Enrolment): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { generateRegistrationOptions } = await import('@simplewebauthn/server');
  return await generateRegistrationOptions({
    rpName: `Tranche ${desk}`,
    rpID: rpId,
    userName: person,
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: known.map((id) => ({ id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  });
}

/** Whether the response has the shape on which the package relies before it checks anything. */
function isCredential(response: unknown): response is { readonly id: string; readonly response: object } {
  if (typeof response !== 'object' || response === null) return false;
  if (!('id' in response) || typeof response.id !== 'string') return false;
  return 'response' in response && typeof response.response === 'object' && response.response !== null;
}

const FRAMED = 'it was made inside a page of another origin';
const isFramed = ({ response }: { readonly response: object }): boolean =>
  'clientDataJSON' in response && isCrossOrigin(String(response.clientDataJSON));

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.fromBase64(text, { alphabet: 'base64url' });
const textOf = (bytes: Uint8Array): string => bytes.toBase64({ alphabet: 'base64url', omitPadding: true });

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
