/** The desk's options for a passkey, in WebAuthn's JSON form. */
export type ForSignIn = PublicKeyCredentialRequestOptionsJSON;
export type ForEnrolment = PublicKeyCredentialCreationOptionsJSON;

/** A passkey's signature in WebAuthn's JSON form: base64url. */
export interface Signed {
  readonly id: string;
  readonly response: Readonly<Record<'authenticatorData' | 'clientDataJSON' | 'signature', string>>;
}

/** Asks for this person's passkey signature over a challenge from the desk. */
export async function signWithPasskey(options: ForSignIn): Promise<Signed> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return jsonOf(await navigator.credentials.get({ publicKey })) as Signed;
}

/** Creates a passkey for this desk. */
export async function makePasskey(options: ForEnrolment): Promise<unknown> {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return jsonOf(await navigator.credentials.create({ publicKey }));
}

function jsonOf(credential: Credential | null): unknown {
  if (!(credential instanceof PublicKeyCredential)) throw new Error('no passkey was used');
  return credential.toJSON();
}
